#include "examples/trainer/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace crossover::trainer {
namespace {

// The flavours differ in name and in the meaning of stream 0, not in type.
#define DRIVER(name, version)
#define DRIVER_STREAM(name, version, ptds_version, suffix) \
  static_assert(std::is_same_v<PFN_##name##_v##version, PFN_##name##_v##ptds_version##_##suffix>);
#include "examples/trainer/driver.def"
#undef DRIVER
#undef DRIVER_STREAM

class LookUp {
 public:
  LookUp(PFN_cuGetProcAddress_v12000 get, bool per_thread) : get_(get), per_thread_(per_thread) {}

  template <typename Function>
  void operator()(Function& function, const char* name, int version) {
    Get(function, name, version, CU_GET_PROC_ADDRESS_DEFAULT);
  }

  template <typename Function>
  void Stream(Function& function, const char* name, int version, int ptds_version) {
    Get(function, name, per_thread_ ? ptds_version : version,
        per_thread_ ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT);
  }

  const std::string& missing() const { return missing_; }

 private:
  template <typename Function>
  void Get(Function& function, const char* name, int version, cuuint64_t flags) {
    void* found = nullptr;
    if (get_(name, &found, version, flags, nullptr) != CUDA_SUCCESS || found == nullptr) {
      missing_ = std::string(name) + " of version " + std::to_string(version);
    }
    function = reinterpret_cast<Function>(found);
  }

  PFN_cuGetProcAddress_v12000 get_;
  bool per_thread_;
  std::string missing_;
};

}  // namespace

std::variant<Driver, DriverError> LoadDriver(bool per_thread) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return DriverError{std::string("no CUDA driver: ") + dlerror()};
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr)
    return DriverError{"libcuda.so.1: expected a driver for CUDA 12, got one without cuGetProcAddress_v2"};
  LookUp look_up(get, per_thread);
  Driver driver;
#define DRIVER(name, version) look_up(driver.name, #name, version);
#define DRIVER_STREAM(name, version, ptds_version, suffix) \
  look_up.Stream(driver.name, #name, version, ptds_version);
#include "examples/trainer/driver.def"
#undef DRIVER
#undef DRIVER_STREAM
  if (!look_up.missing().empty()) return DriverError{"libcuda.so.1 has no " + look_up.missing()};
  return driver;
}

}  // namespace crossover::trainer
