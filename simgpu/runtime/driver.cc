#include "simgpu/runtime/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace simgpu::runtime {

namespace {

// Looks up one function. If the driver lacks it, it stays null and refuses when it is called.
template <typename Function>
void LookUp(PFN_cuGetProcAddress_v12000 get, const char* name, int version, cuuint64_t flags,
            Function* function) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  if (get(name, &address, version, flags, &status) != CUDA_SUCCESS) address = nullptr;
  function->Set(name, address);
}

const Driver* Load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) return nullptr;
  static Driver table;  // it has no destructor: threads may use it while the process exits
  static_assert(std::is_trivially_destructible_v<Driver>);
  Driver* const driver = &table;
  driver->cuGetProcAddress = get;
  constexpr auto kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#define DRIVER_CALL(name, version) LookUp(get, #name, version, kLegacy, &driver->name);
#define STREAM_CALL(name, version, flavour, flavour_version)  \
  LookUp(get, #name, version, kLegacy, &driver->legacy.name); \
  LookUp(get, #name, flavour_version, kPerThread, &driver->per_thread.name);
#include "simgpu/runtime/driver.def"
#undef DRIVER_CALL
#undef STREAM_CALL
  return driver;
}

}  // namespace

const Driver* LoadDriver() {
  static const Driver* const driver = Load();
  return driver;
}

}  // namespace simgpu::runtime
