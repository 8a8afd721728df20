#include "simgpu/nccl/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace simgpu::nccl {

namespace {

struct Loaded {
  Driver table;
  bool usable = false;
  std::string error;
};

// Looks up one function. Names in cuGetProcAddress carry no ABI suffix: the version selects the ABI.
bool LookUp(PFN_cuGetProcAddress_v12000 get, const char* name, int version, void** pointer,
            std::string* error) {
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  if (get(name, pointer, version, CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS &&
      *pointer != nullptr) {
    return true;
  }
  *error = std::string("libcuda.so.1 has no ") + name + " of version " + std::to_string(version);
  return false;
}

bool Load(Driver* table, std::string* error) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    *error = dlerror();
    return false;
  }
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) {
    *error = "libcuda.so.1 has no cuGetProcAddress_v2 (needs a driver of CUDA 12.0 or newer)";
    return false;
  }
#define SIMGPU_NCCL_LOOK_UP(name, version)                 \
  static_assert(std::is_pointer_v<decltype(table->name)>); \
  if (!LookUp(get, #name, version, reinterpret_cast<void**>(&table->name), error)) return false;
  SIMGPU_NCCL_DRIVER_FUNCTIONS(SIMGPU_NCCL_LOOK_UP)
#undef SIMGPU_NCCL_LOOK_UP
  const CUresult result = table->cuInit(0);
  if (result == CUDA_SUCCESS) return true;
  *error = DriverError(*table, "cuInit", result);
  return false;
}

}  // namespace

const Driver* LoadDriver(std::string* error) {
  static const Loaded* loaded = [] {
    auto* fresh = new Loaded;  // never freed: threads may use it while the process exits
    fresh->usable = Load(&fresh->table, &fresh->error);
    return fresh;
  }();
  if (loaded->usable) return &loaded->table;
  *error = loaded->error;
  return nullptr;
}

std::string DriverError(const Driver& driver, const char* what, CUresult result) {
  const char* text = nullptr;
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return std::string(what) + ": " + text + " (" + std::to_string(static_cast<int>(result)) + ")";
}

}  // namespace simgpu::nccl
