// Includes the types of both CUDA interfaces, with plain names for all functions. Declares both flavours of
// the calls that know a default stream (cudaMemcpy and cudaMemcpy_ptds, cudaLaunchKernel and
// cudaLaunchKernel_ptsz), and exports the runtime's calls.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>

// These are the calls that nvcc writes into programs. NVIDIA's headers declare them for nvcc alone.
extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** library);
void __cudaUnregisterFatBinary(void** library);
void __cudaRegisterFunction(void** library, const char* host_function, char* device_function,
                            const char* device_name, int thread_limit, uint3* tid, uint3* bid, dim3* block,
                            dim3* grid, int* warp_size);
void __cudaRegisterVar(void** library, char* host_variable, char* device_address, const char* device_name,
                       int external, size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void** library, void** host_variable, char* device_address,
                              const char* device_name, int external, size_t bytes, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream);
}
#pragma GCC visibility pop

// Defines a call that knows a default stream: name() with the legacy stream, and name##flavour() with the
// stream of the calling thread. `parameters` and `arguments` are lists in parentheses. The body that follows
// finds the driver's functions of the right flavour through `calls`, a pointer to a member of Driver.
#define SIMGPU_RUNTIME_LIST(...) __VA_ARGS__
#define SIMGPU_RUNTIME_STREAM_CALL(name, flavour, parameters, arguments)                   \
  static cudaError_t name##Of(StreamCalls Driver::*calls, SIMGPU_RUNTIME_LIST parameters); \
  extern "C" cudaError_t name parameters {                                                 \
    return name##Of(&Driver::legacy, SIMGPU_RUNTIME_LIST arguments);                       \
  }                                                                                        \
  extern "C" cudaError_t name##flavour parameters {                                        \
    return name##Of(&Driver::per_thread, SIMGPU_RUNTIME_LIST arguments);                   \
  }                                                                                        \
  static cudaError_t name##Of([[maybe_unused]] StreamCalls Driver::*calls, SIMGPU_RUNTIME_LIST parameters)
