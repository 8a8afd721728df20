// Implements what programs ask of a module or library besides a kernel by its name: variables, lists, owners.
#include <algorithm>

#include "simgpu/cuda/context.h"
#include "simgpu/modules/module.h"

using namespace simgpu;

namespace {

CUresult Global(const void* handle, const char* name, CUdeviceptr* address, std::size_t* bytes) {
  const auto module = Handles<Module>().Find(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = RequireContext(&context); error != CUDA_SUCCESS) return error;
  if (const CUresult error = MakeKernels(module); error != CUDA_SUCCESS) return error;
  if (module->image == nullptr) return CUDA_ERROR_NOT_FOUND;  // a text has no variables
  std::string error;
  return module->globals.Find(*module->image->Get(&error), name, context->device, address, bytes);
}

template <typename Handle>
CUresult Enumerate(const void* handle, Handle* kernels, unsigned count) {
  const auto module = Handles<Module>().Find(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = MakeKernels(module); error != CUDA_SUCCESS) return error;
  const std::size_t some = std::min<std::size_t>(count, module->kernels.size());
  for (std::size_t i = 0; i < some; ++i) kernels[i] = reinterpret_cast<Handle>(module->kernels[i].get());
  return CUDA_SUCCESS;
}

// Says whether there is such a library, for calls that look for something which none has here.
CUresult FindNothing(const void* library) {
  return Handles<Module>().Find(library) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_FOUND;
}

}  // namespace

extern "C" {

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return Global(module, name, address, bytes);
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return Global(library, name, address, bytes);
}
CUresult cuLibraryGetManaged(CUdeviceptr*, size_t*, CUlibrary library, const char*) {
  return FindNothing(library);
}
CUresult cuLibraryGetUnifiedFunction(void**, CUlibrary library, const char*) { return FindNothing(library); }

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return Enumerate(module, functions, count);
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return Enumerate(library, kernels, count);
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  const auto kernel = Handles<Kernel>().Find(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *library = reinterpret_cast<CUlibrary>(kernel->module.lock().get());
  return CUDA_SUCCESS;
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return Handles<Kernel>().Find(kernel) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // extern "C"
