// The CUDA driver, found at run time exactly as a CUDA runtime finds it: libcuda.so.1, of it one symbol,
// cuGetProcAddress_v2, and every other function from there by name, ABI version and stream flavour.
#pragma once

#include <cudaTypedefs.h>

#include <string>
#include <variant>

namespace crossover::trainer {

struct Driver {
#define DRIVER(name, version) PFN_##name##_v##version name = nullptr;
#define DRIVER_STREAM(name, version, ptds_version, suffix) PFN_##name##_v##version name = nullptr;
#include "examples/trainer/driver.def"
#undef DRIVER
#undef DRIVER_STREAM
};

struct DriverError {
  std::string text;
};

// `per_thread`: stream 0 shall mean the per-thread default stream.
std::variant<Driver, DriverError> LoadDriver(bool per_thread);

}  // namespace crossover::trainer
