// Lists the driver functions that the library itself calls.
#pragma once

#include <cudaTypedefs.h>

namespace crossover::gates {

// A Driver is a table of these functions. It holds the real ones, or those of a test.
struct Driver {
#define DRIVER_FUNCTION(member, symbol, type) type member = nullptr;
#include "sidecar/gates/driver.def"
#undef DRIVER_FUNCTION
};

// Sets every member to what `find` returns for its exported name in libcuda. A function that the driver lacks
// becomes null. Returns whether all functions are there that every kind of gate needs.
bool LoadDriver(Driver* driver, void* (*find)(const char* symbol));

}  // namespace crossover::gates
