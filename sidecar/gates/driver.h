// The driver functions that the library itself calls, as a table: the real ones, or a test's.
#pragma once

#include <cudaTypedefs.h>

namespace crossover::gates {

struct Driver {
#define DRIVER_FUNCTION(member, symbol, type) type member = nullptr;
#include "sidecar/gates/driver.def"
#undef DRIVER_FUNCTION
};

// Looks every member up with `find`, which takes an exported name of libcuda. Members that the driver does
// not have stay null. Returns whether all that turns need beyond a kind of gate are there.
bool LoadDriver(Driver* driver, void* (*find)(const char* symbol));

}  // namespace crossover::gates
