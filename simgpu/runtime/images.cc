#include "simgpu/runtime/images.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace simgpu::runtime {

struct Image {
  const void* data = nullptr;
  std::vector<const void*> kernels;    // keys of Registry::kernels, guarded by Registry::mutex
  std::vector<const void*> variables;  // keys of Registry::variables
  std::mutex mutex;                    // guards what follows
  const Driver* driver = nullptr;      // loaded `library`
  CUlibrary library = nullptr;
};

namespace {

struct Kernel {
  Image* image;
  const char* name;
  std::atomic<CUkernel> handle{nullptr};
};

struct Variable {
  Image* image;
  const char* name;
};

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels;
  std::unordered_map<const void*, Variable> variables;
  std::unordered_set<const void*> handles;
};

// The registry is never freed: libraries unregister their images while the process exits.
Registry& All() {
  static auto* registry = new Registry;
  return *registry;
}

// Loads an image on its first use. A capture of this thread or of others does not forbid that: loading is no
// work of a stream, so the thread's capture mode is relaxed meanwhile.
cudaError_t Load(const Driver& driver, Image* image, CUlibrary* library) {
  const std::lock_guard lock(image->mutex);
  if (image->library == nullptr) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (const CUresult result = driver.cuThreadExchangeStreamCaptureMode(&mode); result != CUDA_SUCCESS)
      return ErrorOf(result);
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;  // a program's image lives until ForgetImage()
    void* value = reinterpret_cast<void*>(std::uintptr_t{1});
    const CUresult loaded =
        driver.cuLibraryLoadData(&image->library, image->data, nullptr, nullptr, 0, &option, &value, 1);
    if (const CUresult result = driver.cuThreadExchangeStreamCaptureMode(&mode); result != CUDA_SUCCESS)
      return ErrorOf(result);
    if (loaded != CUDA_SUCCESS) return ErrorOf(loaded);
    image->driver = &driver;
  }
  *library = image->library;
  return cudaSuccess;
}

}  // namespace

Image* RegisterImage(const void* data) {
  auto* image = new Image;
  image->data = data;
  return image;
}

void RegisterKernel(Image* image, const void* host_function, const char* name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->image = image;
  kernel->name = name;
  const std::lock_guard lock(All().mutex);
  All().kernels[host_function] = std::move(kernel);
  image->kernels.push_back(host_function);
}

void RegisterVariable(Image* image, const void* host_variable, const char* name) {
  const std::lock_guard lock(All().mutex);
  All().variables[host_variable] = {image, name};
  image->variables.push_back(host_variable);
}

void ForgetImage(Image* image) {
  {
    const std::lock_guard lock(All().mutex);
    for (const void* key : image->kernels) {
      const auto found = All().kernels.find(key);
      if (found == All().kernels.end() || found->second->image != image) continue;
      All().handles.erase(found->second->handle.load(std::memory_order_relaxed));
      All().kernels.erase(found);
    }
    for (const void* key : image->variables) All().variables.erase(key);
  }
  if (image->library != nullptr) image->driver->cuLibraryUnload(image->library);
  delete image;
}

cudaError_t FindKernel(const Driver& driver, const void* function, CUkernel* handle) {
  std::shared_ptr<Kernel> kernel;
  {
    const std::shared_lock lock(All().mutex);
    const auto found = All().kernels.find(function);
    if (found == All().kernels.end()) {
      if (All().handles.count(function) == 0) return cudaErrorInvalidDeviceFunction;
      *handle = static_cast<CUkernel>(const_cast<void*>(function));
      return cudaSuccess;
    }
    kernel = found->second;
  }
  *handle = kernel->handle.load(std::memory_order_acquire);
  if (*handle != nullptr) return cudaSuccess;
  CUlibrary library = nullptr;
  if (const cudaError_t error = Load(driver, kernel->image, &library); error != cudaSuccess) return error;
  const CUresult result = driver.cuLibraryGetKernel(handle, library, kernel->name);
  if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
  if (result != CUDA_SUCCESS) return ErrorOf(result);
  kernel->handle.store(*handle, std::memory_order_release);
  RememberHandle(*handle);
  return cudaSuccess;
}

void RememberHandle(CUkernel kernel) {
  const std::lock_guard lock(All().mutex);
  All().handles.insert(kernel);
}

cudaError_t FindVariable(const Driver& driver, const void* host_variable, CUdeviceptr* address,
                         std::size_t* bytes) {
  Variable variable{};
  {
    const std::shared_lock lock(All().mutex);
    const auto found = All().variables.find(host_variable);
    if (found == All().variables.end()) return cudaErrorInvalidSymbol;
    variable = found->second;
  }
  CUlibrary library = nullptr;
  if (const cudaError_t error = Load(driver, variable.image, &library); error != cudaSuccess) return error;
  const CUresult result = driver.cuLibraryGetGlobal(address, bytes, library, variable.name);
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : ErrorOf(result);
}

}  // namespace simgpu::runtime
