// Finds the CUDA driver at run time exactly as a CUDA runtime does. It takes one symbol,
// cuGetProcAddress_v2, from libcuda.so.1, and gets every other function from it by name, ABI version and
// stream flavour.
#pragma once

#include <cudaTypedefs.h>

#include <string>
#include <variant>

namespace crossover::trainer {

// A Driver is the table of the functions in driver.def.
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

// Loads the driver. With `per_thread`, stream 0 means the per-thread default stream.
std::variant<Driver, DriverError> LoadDriver(bool per_thread);

}  // namespace crossover::trainer
