// Implements launches of kernels and of host functions.
#include <memory>
#include <vector>

#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/images.h"

using namespace simgpu::runtime;

// The attributes of a launch have one layout in both interfaces.
static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value));

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  CUstream stream;
};

// The configurations of the launches that the calling thread has begun to write, `kernel<<<...>>>`.
std::vector<Configuration>& Configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

// The driver takes a kernel in place of a function, and finds the function of the current context.
CUfunction FunctionOf(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

constexpr unsigned kMostThreads = 1024;  // of a block, on every GPU that CUDA 13 knows

bool Launchable(const dim3& grid, const dim3& block) {
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x > 0 && block.y > 0 && block.z > 0 &&
         static_cast<unsigned long long>(block.x) * block.y * block.z <= kMostThreads;
}

// Queues one launch. Returns cudaErrorInvalidConfiguration for a grid or block that no GPU takes.
cudaError_t Launch(StreamCalls Driver::*calls, const Driver& driver, CUkernel kernel,
                   const Configuration& with, void** arguments) {
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (!Launchable(with.grid, with.block)) return cudaErrorInvalidConfiguration;
  return ErrorOf((driver.*calls)
                     .cuLaunchKernel(FunctionOf(kernel), with.grid.x, with.grid.y, with.grid.z, with.block.x,
                                     with.block.y, with.block.z, static_cast<unsigned>(with.shared_bytes),
                                     with.stream, arguments, nullptr));
}

struct StreamCallback {
  cudaStreamCallback_t function;
  void* data;
};

void RunStreamCallback(CUstream stream, CUresult result, void* data) {
  const std::unique_ptr<StreamCallback> callback(static_cast<StreamCallback*>(data));
  callback->function(stream, ErrorOf(result), callback->data);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream) {
  Configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  auto& stack = Configurations();
  if (stack.empty()) return Keep(cudaErrorMissingConfiguration);
  *grid = stack.back().grid;
  *block = stack.back().block;
  *shared_bytes = stack.back().shared_bytes;
  *static_cast<CUstream*>(stream) = stack.back().stream;
  stack.pop_back();
  return cudaSuccess;
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(__cudaLaunchKernel, _ptsz,
                           (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                            cudaStream_t stream),
                           (kernel, grid, block, arguments, shared_bytes, stream)) {
  return WithContext([&](const Driver& driver) {
    return Launch(calls, driver, kernel, {grid, block, shared_bytes, stream}, arguments);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaLaunchKernel, _ptsz,
                           (const void* function, dim3 grid, dim3 block, void** arguments,
                            size_t shared_bytes, cudaStream_t stream),
                           (function, grid, block, arguments, shared_bytes, stream)) {
  return WithContext([&](const Driver& driver) {
    CUkernel kernel = nullptr;
    const cudaError_t error = FindKernel(driver, function, &kernel);
    if (error != cudaSuccess) return error;
    return Launch(calls, driver, kernel, {grid, block, shared_bytes, stream}, arguments);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaLaunchKernelExC, _ptsz,
                           (const cudaLaunchConfig_t* config, const void* function, void** arguments),
                           (config, function, arguments)) {
  return WithContext([&](const Driver& driver) {
    if (config == nullptr) return cudaErrorInvalidValue;
    CUkernel kernel = nullptr;
    const cudaError_t error = FindKernel(driver, function, &kernel);
    if (error != cudaSuccess) return error;
    if (!Launchable(config->gridDim, config->blockDim)) return cudaErrorInvalidConfiguration;
    CUlaunchConfig own{};
    own.gridDimX = config->gridDim.x;
    own.gridDimY = config->gridDim.y;
    own.gridDimZ = config->gridDim.z;
    own.blockDimX = config->blockDim.x;
    own.blockDimY = config->blockDim.y;
    own.blockDimZ = config->blockDim.z;
    own.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
    own.hStream = config->stream;
    own.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
    own.numAttrs = config->numAttrs;
    return ErrorOf((driver.*calls).cuLaunchKernelEx(&own, FunctionOf(kernel), arguments, nullptr));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaLaunchCooperativeKernel, _ptsz,
                           (const void* function, dim3 grid, dim3 block, void** arguments,
                            size_t shared_bytes, cudaStream_t stream),
                           (function, grid, block, arguments, shared_bytes, stream)) {
  return WithContext([&](const Driver& driver) {
    CUkernel kernel = nullptr;
    const cudaError_t error = FindKernel(driver, function, &kernel);
    if (error != cudaSuccess) return error;
    if (!Launchable(grid, block)) return cudaErrorInvalidConfiguration;
    return ErrorOf((driver.*calls)
                       .cuLaunchCooperativeKernel(FunctionOf(kernel), grid.x, grid.y, grid.z, block.x,
                                                  block.y, block.z, static_cast<unsigned>(shared_bytes),
                                                  stream, arguments));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaLaunchHostFunc, _ptsz,
                           (cudaStream_t stream, cudaHostFn_t function, void* data),
                           (stream, function, data)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuLaunchHostFunc(stream, function, data); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamAddCallback, _ptsz,
                           (cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags),
                           (stream, function, data, flags)) {
  return WithContext([&](const Driver& driver) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto callback = std::make_unique<StreamCallback>(StreamCallback{function, data});
    const CUresult result =
        (driver.*calls).cuStreamAddCallback(stream, RunStreamCallback, callback.get(), flags);
    if (result == CUDA_SUCCESS) (void)callback.release();  // RunStreamCallback() owns it now
    return result;
  });
}
