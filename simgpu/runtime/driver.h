// Finds the CUDA driver as NVIDIA's runtime does: dlopen("libcuda.so.1"), one dlsym for cuGetProcAddress_v2,
// and that function for all others. The driver is never linked, so a library that interposes it meets this
// runtime on the way on which it meets NVIDIA's.
#pragma once

#include <type_traits>

#include "simgpu/runtime/export.h"
#include "simgpu/runtime/refuse.h"

namespace simgpu::runtime {

// A DriverFunction is one function of the driver. A driver that lacks it makes the call refuse by its name.
template <typename Pointer>
class DriverFunction;
template <typename... Arguments>
class DriverFunction<CUresult (*)(Arguments...)> {
 public:
  CUresult operator()(Arguments... arguments) const {
    if (pointer_ != nullptr) return pointer_(arguments...);
    Refuse(name_, "the driver does not have it");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  void Set(const char* name, void* address) {
    name_ = name;
    pointer_ = reinterpret_cast<CUresult (*)(Arguments...)>(address);
  }

 private:
  CUresult (*pointer_)(Arguments...) = nullptr;
  const char* name_ = "";
};

// StreamCalls holds the functions that know a default stream: the legacy one or the one of the calling
// thread.
struct StreamCalls {
#define DRIVER_CALL(name, version)
#define STREAM_CALL(name, version, flavour, flavour_version)                                        \
  static_assert(std::is_same_v<PFN_##name##_v##version, PFN_##name##_v##flavour_version##flavour>); \
  DriverFunction<PFN_##name##_v##version> name;
#include "simgpu/runtime/driver.def"
#undef DRIVER_CALL
#undef STREAM_CALL
};

// A Driver is the table of driver.def.
struct Driver {
#define DRIVER_CALL(name, version) DriverFunction<PFN_##name##_v##version> name;
#define STREAM_CALL(name, version, flavour, flavour_version)
#include "simgpu/runtime/driver.def"
#undef DRIVER_CALL
#undef STREAM_CALL
  StreamCalls legacy;
  StreamCalls per_thread;
  PFN_cuGetProcAddress_v12000 cuGetProcAddress = nullptr;
};

// Loads the driver on the first call, and returns its table; nullptr if there is no driver. Does not call
// cuInit. Thread-safe; the table lives as long as the process.
const Driver* LoadDriver();

}  // namespace simgpu::runtime
