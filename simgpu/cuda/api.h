// Includes the types of the CUDA driver API. Declares every version of every function under its own symbol
// (cuMemAlloc_v2, cuStreamSynchronize_ptsz, ...) and exports all of them.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
#include <cudaTypedefs.h>
