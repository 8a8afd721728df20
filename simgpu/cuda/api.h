// The CUDA driver API with every version of every function declared under its own symbol (cuMemAlloc_v2,
// cuStreamSynchronize_ptsz, ...), all of them exported; and their types.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
#include <cudaTypedefs.h>
