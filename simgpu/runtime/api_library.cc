// Implements libraries that a program loads itself, and their kernels and variables.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/images.h"

using namespace simgpu::runtime;

// Both interfaces number the options in the same way.
static_assert(int{cudaLibraryBinaryIsPreserved} == int{CU_LIBRARY_BINARY_IS_PRESERVED});
static_assert(int{cudaJitMaxRegisters} == int{CU_JIT_MAX_REGISTERS});

namespace {

CUjit_option* Options(cudaJitOption* options) { return reinterpret_cast<CUjit_option*>(options); }
CUlibraryOption* Options(cudaLibraryOption* options) { return reinterpret_cast<CUlibraryOption*>(options); }

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit,
                                void** jit_values, unsigned jit_count, cudaLibraryOption* options,
                                void** values, unsigned count) {
  return WithContext([&](const Driver& driver) {
    return driver.cuLibraryLoadData(library, code, Options(jit), jit_values, jit_count, Options(options),
                                    values, count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* jit,
                                    void** jit_values, unsigned jit_count, cudaLibraryOption* options,
                                    void** values, unsigned count) {
  return WithContext([&](const Driver& driver) {
    return driver.cuLibraryLoadFromFile(library, path, Options(jit), jit_values, jit_count, Options(options),
                                        values, count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return WithContext([&](const Driver& driver) { return driver.cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return WithContext([&](const Driver& driver) {
    const CUresult result = driver.cuLibraryGetKernel(kernel, library, name);
    if (result == CUDA_SUCCESS) RememberHandle(*kernel);
    return result;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return WithContext([&](const Driver& driver) { return driver.cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return WithContext([&](const Driver& driver) {
    const CUresult result = driver.cuLibraryEnumerateKernels(kernels, count, library);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; ++i) RememberHandle(kernels[i]);
    return result;
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return WithContext([&](const Driver& driver) {
    return driver.cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return WithContext([&](const Driver& driver) {
    return driver.cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library, const char* symbol) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuLibraryGetUnifiedFunction(function, library, symbol); });
}

}  // extern "C"
