// Tests launches and what a program asks about kernels.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/process/simgpu/runtime/program.h"

namespace simgpu::runtime_test {
namespace {

using Launch = Program;

TEST_F(Launch, RunsAsNvccWritesIt) {
  for (const auto launch : {&__cudaLaunchKernel, &__cudaLaunchKernel_ptsz}) {
    cudaKernel_t kernel = nullptr;
    OK(__cudaGetKernel(&kernel, &kAdd));
    ASSERT_EQ(__cudaPushCallConfiguration(dim3(2), dim3(64), 0, nullptr), 0u);
    dim3 grid, block;
    size_t shared = 1;
    cudaStream_t stream = cudaStreamLegacy;
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EXPECT_EQ(grid.x, 2u);
    EXPECT_EQ(block.x, 64u);
    EXPECT_EQ(shared, 0u);
    EXPECT_EQ(stream, nullptr);
    Add([&](void** arguments) { OK(launch(kernel, grid, block, arguments, shared, stream)); }, 3);
  }
  EXPECT_EQ(Sum(), 6);
}

TEST_F(Launch, RunsByEachCall) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  cudaKernel_t handle = nullptr;
  OK(cudaGetKernel(&handle, &kAdd));
  const std::vector<std::function<cudaError_t(void**)>> calls = {
      [](void** arguments) { return cudaLaunchKernel(&kAdd, 1, 32, arguments, 0, nullptr); },
      [](void** arguments) { return cudaLaunchKernel_ptsz(&kAdd, 1, 32, arguments, 0, nullptr); },
      [&](void** arguments) { return cudaLaunchKernel(handle, 1, 32, arguments, 0, nullptr); },
      [&](void** arguments) { return cudaLaunchKernelExC(&config, &kAdd, arguments); },
      [&](void** arguments) { return cudaLaunchKernelExC_ptsz(&config, &kAdd, arguments); },
      [](void** arguments) { return cudaLaunchCooperativeKernel(&kAdd, 1, 32, arguments, 0, nullptr); },
      [](void** arguments) { return cudaLaunchCooperativeKernel_ptsz(&kAdd, 1, 32, arguments, 0, nullptr); },
  };
  int expected = 0;
  for (const auto& call : calls) {
    const int value = 1 << expected;
    Add([&](void** arguments) { OK(call(arguments)); }, value);
    EXPECT_EQ(Sum(), (1 << (expected + 1)) - 1) << "call " << expected;
    ++expected;
  }
}

TEST_F(Launch, IsRefusedWithoutAKernelOrAConfiguration) {
  EXPECT_EQ(cudaLaunchKernel(&kLacking, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(this, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(__cudaLaunchKernel(nullptr, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&kTimed, 0, 32, nullptr, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&kTimed, 1, 1025, nullptr, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&kTimed, 1, dim3(32, 32, 2), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, &kTimed, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

TEST_F(Launch, HasConfigurationsInTurn) {
  __cudaPushCallConfiguration(dim3(1), dim3(1), 10, nullptr);
  __cudaPushCallConfiguration(dim3(2), dim3(1), 20, nullptr);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(shared, 20u);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(shared, 10u);
}

TEST_F(Launch, RunsHostFunctionsInTheOrderOfTheStream) {
  static std::vector<std::string> seen;
  seen.clear();
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Hold(stream);
  OK(cudaLaunchHostFunc(
      stream, [](void* data) { seen.emplace_back(static_cast<const char*>(data)); },
      const_cast<char*>("function")));
  OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void* data) {
        seen.emplace_back(std::string(static_cast<const char*>(data)) + " " + cudaGetErrorName(status));
      },
      const_cast<char*>("callback"), 0));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  Release();
  OK(cudaStreamSynchronize(stream));
  EXPECT_THAT(seen, testing::ElementsAre("function", "callback cudaSuccess"));
  EXPECT_EQ(cudaStreamAddCallback(stream, nullptr, nullptr, 0), cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
}

TEST_F(Launch, KnowsItsKernel) {
  cudaFuncAttributes attributes{};
  OK(cudaFuncGetAttributes(&attributes, &kAdd));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, &kAdd));
  EXPECT_STREQ(name, "add");
  size_t offset = 0, bytes = 0;
  OK(cudaFuncGetParamInfo(&kAdd, 1, &offset, &bytes));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(bytes, 4u);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &kAdd, 256, 0));
  EXPECT_EQ(blocks, 8);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &kAdd, 512, 0, 0));
  EXPECT_EQ(blocks, 4);
  OK(cudaFuncSetAttribute(&kAdd, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
  cudaFunction_t function = nullptr;
  OK(cudaGetFuncBySymbol(&function, &kAdd));
  const char* of_driver = nullptr;
  ASSERT_EQ(cuFuncGetName(&of_driver, function), CUDA_SUCCESS);
  EXPECT_STREQ(of_driver, "add");
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &kLacking), cudaErrorInvalidDeviceFunction);
}

TEST_F(Launch, FindsKernelsOfALibraryThatTheProgramLoads) {
  cudaLibrary_t library = nullptr;
  OK(cudaLibraryLoadData(&library, "// simgpu 1\nkernel add ns=1000 sms=1 args=8,4 fn=RuntimeTestAdd\n",
                         nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  cudaKernel_t kernel = nullptr;
  OK(cudaLibraryGetKernel(&kernel, library, "add"));
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "other"), cudaErrorSymbolNotFound);
  Add([&](void** arguments) { OK(cudaLaunchKernel(kernel, 1, 32, arguments, 0, nullptr)); }, 5);
  EXPECT_EQ(Sum(), 5);
  OK(cudaLibraryUnload(library));
}

}  // namespace
}  // namespace simgpu::runtime_test
