#include "sidecar/hooks/symbols.h"

#include <gtest/gtest.h>

#include "sidecar/hooks/cuda_hooks.h"

namespace crossover::hooks {
namespace {

constexpr std::uint64_t kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
constexpr std::uint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

void* Wrapper(const char* symbol) { return FindWrapper(symbol).wrapper; }

// Returns what is handed out by version by a driver that has every row.
void* Match(const char* name, int version, std::uint64_t flags) {
  return MatchByVersion(name, version, flags, [](std::size_t) { return true; });
}

TEST(SymbolsTest, FindsRowsOfBothTablesByExactName) {
  EXPECT_EQ(FindWrapper("cuLaunchKernel").library, Library::kCuda);
  EXPECT_EQ(FindWrapper("ncclAllReduce").library, Library::kNccl);
  EXPECT_NE(Wrapper("cuLaunchKernel"), Wrapper("cuLaunchKernel_ptsz"));
  EXPECT_EQ(Wrapper("cuLaunchKerne"), nullptr);
  EXPECT_EQ(Wrapper("cuMemHostAlloc"), nullptr);
}

TEST(SymbolsTest, VersionDecidesBetweenRowsOfOneName) {
  EXPECT_EQ(Match("cuGetProcAddress", 11030, 0), Wrapper("cuGetProcAddress"));
  EXPECT_EQ(Match("cuGetProcAddress", 11999, 0), Wrapper("cuGetProcAddress"));
  EXPECT_EQ(Match("cuGetProcAddress", 12000, 0), Wrapper("cuGetProcAddress_v2"));
  EXPECT_EQ(Match("cuGetProcAddress", 99990, 0), Wrapper("cuGetProcAddress_v2"));
  EXPECT_EQ(Match("cuGetProcAddress", 11020, 0), nullptr);
  EXPECT_EQ(Match("cuStreamDestroy", 3020, 0), Wrapper("cuStreamDestroy"));
  EXPECT_EQ(Match("cuCtxSynchronize", 13000, 0), Wrapper("cuCtxSynchronize_v2"));
}

TEST(SymbolsTest, ARowThatTheDriverLacksIsNotMatched) {
  const auto only_first_version = [](std::size_t row) {
    return row != static_cast<std::size_t>(CudaHook::k_cuCtxSynchronize_v2);
  };
  EXPECT_EQ(MatchByVersion("cuCtxSynchronize", 13000, 0, only_first_version), Wrapper("cuCtxSynchronize"));
}

TEST(SymbolsTest, FlagsDecideBetweenFlavours) {
  EXPECT_EQ(Match("cuLaunchKernel", 12000, kLegacy), Wrapper("cuLaunchKernel"));
  EXPECT_EQ(Match("cuLaunchKernel", 12000, kPerThread), Wrapper("cuLaunchKernel_ptsz"));
  EXPECT_EQ(Match("cuLaunchKernel", 4000, kPerThread), Wrapper("cuLaunchKernel"))
      << "older than its per-thread flavour";
  EXPECT_EQ(Match("cuEventQuery", 12000, kPerThread), Wrapper("cuEventQuery")) << "has no per-thread flavour";
  EXPECT_EQ(Match("cuStreamBeginCapture", 12000, kPerThread), Wrapper("cuStreamBeginCapture_v2_ptsz"));
}

TEST(SymbolsTest, FunctionsOutsideTheTableStayWhatTheyAre) {
  int anything = 0;
  EXPECT_EQ(SubstituteForProcAddress("cuMemHostAlloc", &anything, 12000, 0), &anything);
  EXPECT_EQ(SubstituteForProcAddress("", &anything, 0, 0), &anything);
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", &anything, 3000, 0), &anything) << "an unknown ABI";
  EXPECT_EQ(SubstituteForProcAddress("cuLaunchKernel", &anything, 12000, 0), &anything)
      << "there is no driver whose function the wrapper could call";
}

TEST(SymbolsTest, WithoutTheRealLibraryAWrapperFailsAndLivesOn) {
  EXPECT_EQ((CudaWrapper<CudaHook::k_cuCtxSynchronize>::Call()), CUDA_ERROR_NOT_FOUND);
}

TEST(LaunchTest, WithoutAGangTheFirstLaunchIsTheLastThatIsLookedAt) {
  EXPECT_NE(session::hook_flags, 0u);
  EXPECT_EQ((CudaWrapper<CudaHook::k_cuGraphLaunch>::Call(nullptr, nullptr)), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(session::hook_flags, 0u);
}

}  // namespace
}  // namespace crossover::hooks
