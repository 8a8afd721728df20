// Implements modules, libraries, functions and kernels.
#include <algorithm>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/loading.h"
#include "simgpu/cuda/occupancy.h"
#include "simgpu/modules/module.h"

using namespace simgpu;

#define REQUIRE_CONTEXT(context)    \
  std::shared_ptr<Context> context; \
  if (const CUresult required_ = RequireContext(&context); required_ != CUDA_SUCCESS) return required_

namespace {

template <typename Handle>
CUresult Publish(const std::shared_ptr<Module>& module, Handle* result) {
  *result = reinterpret_cast<Handle>(Handles<Module>().Add(module));
  return CUDA_SUCCESS;
}

template <typename Handle>
CUresult Load(const void* image, Preserved preserved, Handle* result) {
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  std::shared_ptr<Module> module;
  const CUresult error = LoadImage(image, preserved, &module);
  return error == CUDA_SUCCESS ? Publish(module, result) : error;
}

template <typename Handle>
CUresult LoadFile(const char* path, Handle* result) {
  std::shared_ptr<Module> module;
  const CUresult error = LoadImageFile(path, &module);
  return error == CUDA_SUCCESS ? Publish(module, result) : error;
}

CUresult Unload(const void* handle) {
  const auto module = Handles<Module>().Remove(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(module->mutex);
  for (const auto& kernel : module->kernels) Handles<Kernel>().Remove(kernel.get());
  return CUDA_SUCCESS;
}

template <typename Handle>
CUresult Get(const void* module_handle, const char* name, Handle* result) {
  const auto module = Handles<Module>().Find(module_handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Kernel> kernel;
  if (const CUresult error = FindKernel(module, name, &kernel); error != CUDA_SUCCESS) return error;
  *result = reinterpret_cast<Handle>(kernel.get());
  return CUDA_SUCCESS;
}

CUresult NameOf(const void* handle, const char** name) {
  const auto kernel = Handles<Kernel>().Find(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = kernel->spec.name.c_str();
  return CUDA_SUCCESS;
}

CUresult ParameterInfo(const void* handle, size_t index, size_t* offset, size_t* bytes) {
  const auto kernel = Handles<Kernel>().Find(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto& sizes = kernel->spec.argument_bytes;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  if (offset != nullptr) *offset = kernel->spec.argument_offsets[index];
  if (bytes != nullptr) *bytes = sizes[index];
  return CUDA_SUCCESS;
}

CUresult AttributeOf(const void* handle, CUfunction_attribute attribute, int* value) {
  const auto kernel = Handles<Kernel>().Find(handle);
  return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : kernel->attributes.Get(attribute, value);
}

CUresult SetAttributeOf(const void* handle, CUfunction_attribute attribute, int value) {
  const auto kernel = Handles<Kernel>().Find(handle);
  return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : kernel->attributes.Set(attribute, value);
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  REQUIRE_CONTEXT(context);
  return Load(image, Preserved::kNo, module);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  REQUIRE_CONTEXT(context);
  return LoadFile(path, module);
}
CUresult cuModuleUnload(CUmodule module) { return Unload(module); }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return Get(module, name, function);
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  *mode = ProcessLoading().every > 0 ? CU_MODULE_LAZY_LOADING : CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  const auto module = Handles<Module>().Find(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = MakeKernels(module); error != CUDA_SUCCESS) return error;
  *count = static_cast<unsigned>(module->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption* options, void** values, unsigned count) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  Preserved preserved = Preserved::kNo;
  for (unsigned i = 0; i < count; ++i) {
    const bool set = values != nullptr && values[i] != nullptr;
    if (options != nullptr && options[i] == CU_LIBRARY_BINARY_IS_PRESERVED && set)
      preserved = Preserved::kYes;
  }
  return Load(image, preserved, library);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  return LoadFile(path, library);
}
CUresult cuLibraryUnload(CUlibrary library) { return Unload(library); }
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return Get(library, name, kernel);
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  REQUIRE_CONTEXT(context);
  if (Handles<Module>().Find(library) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(library));
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  REQUIRE_CONTEXT(context);
  if (Handles<Kernel>().Find(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) { return NameOf(kernel, name); }
CUresult cuFuncGetName(const char** name, CUfunction function) { return NameOf(function, name); }
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  const auto kernel = Handles<Kernel>().Find(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<CUmodule>(kernel->module.lock().get());
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(function, index, offset, bytes);
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(kernel, index, offset, bytes);
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return AttributeOf(function, attribute, value);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return AttributeOf(kernel, attribute, value);
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return SetAttributeOf(function, attribute, value);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return SetAttributeOf(kernel, attribute, value);
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return Handles<Kernel>().Find(function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncLoad(CUfunction function) {
  const auto kernel = Handles<Kernel>().Find(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  LoadNow(Current(), *kernel);
  return Ready();
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  const auto kernel = Handles<Kernel>().Find(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *state = IsLoaded(*kernel) ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, size_t) {
  if (Handles<Kernel>().Find(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (threads <= 0 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  *blocks = static_cast<int>(BlocksOfAnSm(static_cast<std::uint64_t>(threads)));
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

}  // extern "C"
