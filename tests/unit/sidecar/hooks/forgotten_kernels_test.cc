// Tests that what is known of a program's kernels ends with their context. The driver here tells names of
// kernels. It needs a process of its own, because nccl_kernels_test.cc has no driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/nccl_kernels.h"
#include "sidecar/hooks/symbols.h"

namespace crossover::hooks {
namespace {

constexpr char kImage[] =
    "// simgpu 1\nkernel ncclDevKernel_AllReduce_Sum_f32_RING_LL ns=1000 sms=1\nkernel gradient ns=1000 "
    "sms=1\n";

// Calls the function as a hooked program reaches it.
template <typename Function>
CUresult Hooked(const char* symbol, Function argument) {
  const auto wrapper = reinterpret_cast<CUresult (*)(Function)>(FindWrapper(symbol).wrapper);
  return wrapper == nullptr ? CUDA_ERROR_NOT_FOUND : wrapper(argument);
}

class KernelsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CROSSOVER_GANG", "a", 1);
    setenv("SIMGPU_MACHINE", "1x1", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }

  void Load() {
    ASSERT_EQ(cuModuleLoadData(&module_, kImage), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function_, module_, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
              CUDA_SUCCESS);
  }

  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

class ForgottenKernelsTest : public KernelsTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(ForgottenKernelsTest, WithTheirContext) {
  CUcontext context = nullptr;
  const std::string symbol = GetParam();
  const bool primary = symbol.find("Primary") != std::string::npos;
  if (primary) {
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  } else {
    ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  }
  Load();
  ASSERT_NE(NcclKernelOf(function_), 0);
  ASSERT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);  // not through our hook, as when a context ends
  ASSERT_NE(NcclKernelOf(function_), 0) << "no module has told us";
  EXPECT_EQ(primary ? Hooked(symbol.c_str(), CUdevice{0}) : Hooked(symbol.c_str(), context), CUDA_SUCCESS);
  EXPECT_EQ(NcclKernelOf(function_), 0) << "whatever has this handle next would be taken for NCCL's";
}

// The software GPU has no green contexts.
TEST_F(KernelsTest, WithAGreenContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  Load();
  ASSERT_NE(NcclKernelOf(function_), 0);
  ASSERT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);  // not through our hook
  real_cuda<CudaHook::k_cuGreenCtxDestroy>.store([](CUgreenCtx) { return CUDA_SUCCESS; });
  EXPECT_EQ(Hooked("cuGreenCtxDestroy", CUgreenCtx{}), CUDA_SUCCESS);
  EXPECT_EQ(NcclKernelOf(function_), 0);
}

INSTANTIATE_TEST_SUITE_P(Ends, ForgottenKernelsTest,
                         ::testing::Values("cuCtxDestroy_v2", "cuDevicePrimaryCtxRelease",
                                           "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxReset",
                                           "cuDevicePrimaryCtxReset_v2"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace crossover::hooks
