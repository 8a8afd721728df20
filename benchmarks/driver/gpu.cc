#include "benchmarks/driver/gpu.h"

#include "common/base/clock.h"

namespace crossover::bench {

Gpu::Gpu(int ordinal, const std::string& image) {
  Check(Cuda().cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  Check(Cuda().cuDeviceGet(&device, ordinal), "cuDeviceGet");
  Check(Cuda().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Check(Cuda().cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Check(Cuda().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (!image.empty()) Check(Cuda().cuModuleLoadData(&module_, image.c_str()), "cuModuleLoadData");
}

CUfunction Gpu::Kernel(const char* name) const {
  CUfunction kernel = nullptr;
  Check(Cuda().cuModuleGetFunction(&kernel, module_, name), name);
  return kernel;
}

void Gpu::Launch(CUfunction kernel, void** parameters) const {
  Check(Cuda().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr), "cuLaunchKernel");
}

void Gpu::Synchronize() const { Check(Cuda().cuStreamSynchronize(stream_), "cuStreamSynchronize"); }

void Gpu::Stamp(std::int64_t* where) const {
  const auto stamp = [](void* time) { *static_cast<std::int64_t*>(time) = base::MonotonicNs(); };
  Check(Cuda().cuLaunchHostFunc(stream_, stamp, where), "cuLaunchHostFunc");
}

CUdeviceptr Gpu::Register(void* memory, std::size_t bytes) {
  CUdeviceptr address = 0;
  Check(Cuda().cuMemHostRegister(memory, bytes, CU_MEMHOSTREGISTER_DEVICEMAP), "cuMemHostRegister");
  Check(Cuda().cuMemHostGetDevicePointer(&address, memory, 0), "cuMemHostGetDevicePointer");
  return address;
}

}  // namespace crossover::bench
