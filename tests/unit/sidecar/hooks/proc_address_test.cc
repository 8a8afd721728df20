// Tests what is handed out in place of what cuGetProcAddress answers, over the software GPU's driver.
#include <gmock/gmock.h>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/symbols.h"

namespace crossover::hooks {
namespace {

using ::testing::HasSubstr;

void* Wrapper(const char* symbol) { return FindWrapper(symbol).wrapper; }

void* Real(const char* symbol) { return FindSymbol(Library::kCuda, symbol); }

TEST(ProcAddressTest, TheFunctionOfARowIsWrapped) {
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", Real("cuLaunchKernel"), 12000, 0),
            Wrapper("cuLaunchKernel"));
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", Real("cuLaunchKernel"), 99990, 0),
            Wrapper("cuLaunchKernel"));
}

// The next version of a function has the same name and another ABI.
TEST(ProcAddressTest, AnExportedFunctionOfNoRowPassesAndIsToldOfOnce) {
  void* const newer = Real("cuInit");
  ASSERT_NE(newer, nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", newer, 14000, 0), newer);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("cuLaunchKernel of CUDA 14000 is cuInit"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuEventRecord", newer, 14000, 0), newer);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ProcAddressTest, AFunctionThatIsOlderThanAllRowsPassesWithoutAWord) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", Real("cuInit"), 3000, 0), Real("cuInit"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ProcAddressTest, AFunctionWithoutASymbolIsMatchedByItsVersion) {
  int anything = 0;
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", &anything, 12000, 0), Wrapper("cuLaunchKernel"));
}

// The wrapper of such a row would have nothing to call.
TEST(ProcAddressTest, ARowThatTheDriverLacksIsNotHandedOut) {
  int anything = 0;
  ASSERT_EQ(FindRealCuda(CudaHook::k_cuStreamBeginCaptureToGraph), nullptr);
  EXPECT_EQ(SubstituteForProcAddress("cuStreamBeginCaptureToGraph", &anything, 12030, 0), &anything);
}

}  // namespace
}  // namespace crossover::hooks
