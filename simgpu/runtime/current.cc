#include "simgpu/runtime/current.h"

#include <atomic>
#include <map>
#include <mutex>

namespace simgpu::runtime {

namespace {

thread_local int thread_device = 0;

// Primaries holds the primary contexts that this process retained. They are never freed: threads may call
// while the process exits.
struct Primaries {
  std::mutex mutex;
  std::map<int, CUcontext> contexts;
};

Primaries& Retained() {
  static auto* primaries = new Primaries;
  return *primaries;
}

cudaError_t CheckDevice(const Driver& driver, int device) {
  int count = 0;
  if (const CUresult result = driver.cuDeviceGetCount(&count); result != CUDA_SUCCESS) return ErrorOf(result);
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t Bind(const Driver& driver, int device) {
  CUcontext context = nullptr;
  if (const cudaError_t error = PrimaryContext(driver, device, &context); error != cudaSuccess) return error;
  return ErrorOf(driver.cuCtxSetCurrent(context));
}

}  // namespace

cudaError_t UseDriver(const Driver** driver) {
  *driver = LoadDriver();
  if (*driver == nullptr) return cudaErrorInsufficientDriver;
  // A forked child keeps the `true` of its parent. Its driver then says that it is not initialised, as
  // NVIDIA's does.
  static std::atomic<bool> initialised{false};
  if (initialised.load(std::memory_order_acquire)) return cudaSuccess;
  if (const CUresult result = (*driver)->cuInit(0); result != CUDA_SUCCESS) return ErrorOf(result);
  initialised.store(true, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t UseContext(const Driver** driver) {
  if (const cudaError_t error = UseDriver(driver); error != cudaSuccess) return error;
  CUcontext context = nullptr;
  if (const CUresult result = (*driver)->cuCtxGetCurrent(&context); result != CUDA_SUCCESS)
    return ErrorOf(result);
  return context != nullptr ? cudaSuccess : Bind(**driver, thread_device);
}

cudaError_t GetDevice(const Driver& driver, int* device) {
  if (device == nullptr) return cudaErrorInvalidValue;
  CUcontext context = nullptr;
  if (const CUresult result = driver.cuCtxGetCurrent(&context); result != CUDA_SUCCESS)
    return ErrorOf(result);
  if (context != nullptr) return ErrorOf(driver.cuCtxGetDevice(device));
  *device = thread_device;
  return cudaSuccess;
}

cudaError_t SetDevice(const Driver& driver, int device) {
  if (const cudaError_t error = CheckDevice(driver, device); error != cudaSuccess) return error;
  thread_device = device;
  return Bind(driver, device);
}

cudaError_t PrimaryContext(const Driver& driver, int device, CUcontext* context) {
  if (const cudaError_t error = CheckDevice(driver, device); error != cudaSuccess) return error;
  Primaries& primaries = Retained();
  const std::lock_guard lock(primaries.mutex);
  CUcontext& own = primaries.contexts[device];
  if (own == nullptr) {
    if (const CUresult result = driver.cuDevicePrimaryCtxRetain(&own, device); result != CUDA_SUCCESS)
      return ErrorOf(result);
  }
  *context = own;
  return cudaSuccess;
}

cudaError_t ResetDevice(const Driver& driver) {
  int device = 0;
  if (const cudaError_t error = GetDevice(driver, &device); error != cudaSuccess) return error;
  {
    const std::lock_guard lock(Retained().mutex);
    Retained().contexts.erase(device);
  }
  if (const CUresult result = driver.cuDevicePrimaryCtxReset(device); result != CUDA_SUCCESS)
    return ErrorOf(result);
  return ErrorOf(driver.cuCtxSetCurrent(nullptr));
}

}  // namespace simgpu::runtime
