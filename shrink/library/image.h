// Has the kernels that narrow and widen. Allocates; thread-safe.
#pragma once

#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

// Returns the image of the kernels, which ends with a zero: that within the library, which is PTX, or that in
// the file `path` if it is not null. Reads a file once, and keeps it. Returns null and sets `reason` if the
// file cannot be read or is larger than 16 MiB.
const void* ImageOf(const char* path, vote::Reason* reason);

}  // namespace crossover::shrink::library
