#include "simgpu/math/driver.h"

#include <dlfcn.h>

#include <cstdio>

namespace simgpu::math {

namespace {

bool Complain(const char* what) {
  std::fprintf(stderr, "simgpu math: no driver: %s\n", what);
  return false;
}

bool LookUp(PFN_cuGetProcAddress_v12000 get, const char* name, int version, void** pointer) {
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  return (get(name, pointer, version, CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS &&
          *pointer != nullptr) ||
         Complain(name);
}

bool Load(Driver* driver) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return Complain(dlerror());
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) return Complain("libcuda.so.1 has no cuGetProcAddress_v2");
#define SIMGPU_MATH_LOOK_UP(name, version) \
  if (!LookUp(get, #name, version, reinterpret_cast<void**>(&driver->name))) return false;
  SIMGPU_MATH_DRIVER_FUNCTIONS(SIMGPU_MATH_LOOK_UP)
#undef SIMGPU_MATH_LOOK_UP
  return driver->cuInit(0) == CUDA_SUCCESS || Complain("cuInit fails");
}

}  // namespace

const Driver* LoadDriver() {
  static const Driver* const driver = []() -> const Driver* {
    auto* fresh = new Driver;  // never freed: threads may use it while the process exits
    if (Load(fresh)) return fresh;
    delete fresh;
    return nullptr;
  }();
  return driver;
}

}  // namespace simgpu::math
