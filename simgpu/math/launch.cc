#include "simgpu/math/launch.h"

#include <array>

#include "simgpu/math/driver.h"

namespace simgpu::math {

namespace {

constexpr const char* kImage =
    "// simgpu 1\nkernel gemm ns=arg scaled\nkernel conv ns=arg scaled\nkernel norm ns=arg scaled\nkernel "
    "blas ns=arg scaled\n";
constexpr std::array kNames{"gemm", "conv", "norm", "blas"};
constexpr unsigned kThreads = 1024;    // of a block
constexpr unsigned kBlocksOfAnSm = 2;  // of so many threads

// Holds the kernels in the order of KernelName. A kernel of a library serves every context of the process.
struct Kernels {
  std::array<CUkernel, kNames.size()> kernels{};
  bool usable = false;
};

Kernels Load(const Driver& driver) {
  Kernels loaded;
  CUlibrary library = nullptr;
  if (driver.cuLibraryLoadData(&library, kImage, nullptr, nullptr, 0, nullptr, nullptr, 0) != CUDA_SUCCESS) {
    return loaded;
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (driver.cuLibraryGetKernel(&loaded.kernels.at(i), library, kNames.at(i)) != CUDA_SUCCESS)
      return loaded;
  }
  loaded.usable = true;
  return loaded;
}

}  // namespace

bool UseContext() {
  const Driver* driver = LoadDriver();
  if (driver == nullptr) return false;
  CUcontext context = nullptr;
  if (driver->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr) return true;
  static const CUcontext primary = [driver] {
    CUcontext fresh = nullptr;
    return driver->cuDevicePrimaryCtxRetain(&fresh, 0) == CUDA_SUCCESS ? fresh : nullptr;
  }();
  return primary != nullptr && driver->cuCtxSetCurrent(primary) == CUDA_SUCCESS;
}

int SmsHere() {
  if (!UseContext()) return 1;
  const Driver& driver = *LoadDriver();
  CUdevice device = 0;
  int sms = 0;
  if (driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      driver.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) != CUDA_SUCCESS) {
    return 1;
  }
  return sms > 0 ? sms : 1;
}

bool Launch(KernelName name, const Cost& cost, CUstream stream) {
  if (!UseContext()) return false;
  const Driver& driver = *LoadDriver();
  static const Kernels loaded = Load(driver);
  if (!loaded.usable) return false;
  std::uint64_t ns = cost.ns;
  void* arguments[] = {&ns};
  const auto kernel = reinterpret_cast<CUfunction>(loaded.kernels.at(static_cast<std::size_t>(name)));
  return driver.cuLaunchKernel(kernel, static_cast<unsigned>(cost.sms) * kBlocksOfAnSm, 1, 1, kThreads, 1, 1,
                               0, stream, static_cast<void**>(arguments), nullptr) == CUDA_SUCCESS;
}

}  // namespace simgpu::math
