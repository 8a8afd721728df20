// Tests what is handed out in place of what cuGetProcAddress answers, over the software GPU's driver.
#include <gmock/gmock.h>

#include <string>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/symbols.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("cuLaunchKernel of CUDA version 14000 is cuInit"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", newer, 14000, 0), newer);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuEventRecord", newer, 14000, 0), newer);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("cuEventRecord of CUDA version 14000 is cuInit"), Not(HasSubstr("takes no turns"))));
}

// A capture that passes unseen would get operations of ours into its graph. The driver has no row of the last
// name, as a driver that has dropped all older versions of a function.
TEST(ProcAddressTest, NoTurnsAreTakenBesideANewFunctionThatTurnsNeedToSee) {
  ASSERT_EQ(FindRealCuda(CudaHook::k_cuStreamBeginCaptureToGraph), nullptr);
  for (const char* name : {"cuStreamBeginCapture", "cuGraphLaunch", "cuStreamBeginCaptureToGraph"}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(SubstituteForProcAddress(name, Real("cuInit"), 14000, 0), Real("cuInit"));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr(std::string(name) + " of CUDA version 14000"));
  }
  crossover_page page{};
  session::Session& session = session::TheSession();
  const gates::Driver driver;
  session.SetUp(&driver, nullptr, CROSSOVER_TRANSPORT_NONE, true);
  session.OnOwnContextEnds();  // so that it attaches without a driver
  ASSERT_TRUE(session.Attach(&page, 0));
  EXPECT_EQ(page.slot[0].watch_reason, static_cast<std::uint32_t>(base::WatchReason::kNewerDriver));
  session.Detach();
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
  ASSERT_EQ(FindRealCuda(CudaHook::k_cuStreamBeginCaptureToCig), nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(SubstituteForProcAddress("cuStreamBeginCaptureToCig", &anything, 13020, 0), &anything);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("cuStreamBeginCaptureToCig of CUDA version 13020 is a function without a name"));
}

}  // namespace
}  // namespace crossover::hooks
