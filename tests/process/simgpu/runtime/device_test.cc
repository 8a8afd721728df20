// Tests devices, their contexts, versions and look-ups.
#include <thread>

#include "tests/process/simgpu/runtime/program.h"

namespace simgpu::runtime_test {
namespace {

using DeviceTest = Program;

TEST_F(DeviceTest, BelongsToAThread) {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  ASSERT_EQ(count, 2);
  OK(cudaSetDevice(1));
  std::thread([] {
    int device = -1;
    OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    void* memory = nullptr;
    OK(cudaMalloc(&memory, 256));
    cudaPointerAttributes attributes{};
    OK(cudaPointerGetAttributes(&attributes, memory));
    EXPECT_EQ(attributes.device, 0);
    OK(cudaFree(memory));
  }).join();
  int device = -1;
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 256));
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT_EQ(attributes.device, 1);
  OK(cudaFree(memory));
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
}

TEST_F(DeviceTest, UsesThePrimaryContextAndWhatTheProgramMakesCurrent) {
  CUcontext primary = nullptr, current = nullptr, own = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  OK(cudaFree(nullptr));
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, primary);
  ASSERT_EQ(cuCtxCreate_v2(&own, 0, 1), CUDA_SUCCESS);  // it is current now
  int device = -1;
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  OK(cudaDeviceSynchronize());
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cuCtxDestroy_v2(own), CUDA_SUCCESS);
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

TEST_F(DeviceTest, HasTheDriversAttributesAsProperties) {
  cudaDeviceProp properties{};
  OK(cudaGetDeviceProperties(&properties, 1));
  EXPECT_STREQ(properties.name, "simgpu H100-like");
  size_t total = 0;
  ASSERT_EQ(cuDeviceTotalMem_v2(&total, 1), CUDA_SUCCESS);
  EXPECT_EQ(properties.totalGlobalMem, total);
  int value = 0;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
  EXPECT_EQ(properties.multiProcessorCount, value);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 232448u);
  EXPECT_EQ(properties.pciBusID, 2);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
  char bus[32];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
  int device = -1;
  OK(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT_EQ(device, 1);
}

TEST_F(DeviceTest, ReachesItsPeer) {
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(7, 0), cudaErrorInvalidDevice);
  void *here = nullptr, *there = nullptr;
  OK(cudaMalloc(&here, 64));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&there, 64));
  OK(cudaSetDevice(0));
  int value = 12345, back = 0;
  OK(cudaMemcpy(here, &value, sizeof value, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(there, 1, here, 0, sizeof value));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&back, there, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, value);
  EXPECT_EQ(cudaMemcpyPeerAsync(there, 5, here, 0, 4, nullptr), cudaErrorInvalidDevice);
  OK(cudaFree(here));
  OK(cudaFree(there));
  OK(cudaDeviceDisablePeerAccess(1));
}

TEST_F(DeviceTest, TellsVersions) {
  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, 13020);
  OK(cudaDriverGetVersion(&version));
  EXPECT_EQ(version / 1000, 13);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
}

TEST_F(DeviceTest, FindsTheDriversFunctions) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &function, 12000, cudaEnableDefault, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuLaunchKernel));
  OK(cudaGetDriverEntryPointByVersion_ptsz("cuLaunchKernel", &function, 12000, cudaEnableDefault, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &function, 12000, cudaEnablePerThreadDefaultStream,
                                      &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 2000, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(function, nullptr);
  OK(cudaGetDriverEntryPoint("cuNoSuchThing", &function, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &status), cudaErrorInvalidValue);
}

TEST_F(DeviceTest, NamesItsErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(1000)), "unrecognized error code");
}

}  // namespace
}  // namespace simgpu::runtime_test
