// Holds the images of the kernels of kernels.ptx (image.S).
#pragma once

#include <cstddef>

namespace crossover::bench {

// This is PTX, as a text that ends with a zero byte.
extern "C" const char kPtx[];
// This is a fatbin of the same kernels. It is empty where the build had no nvcc.
extern "C" const char kFatbin[];
extern "C" const char kFatbinEnd[];

inline std::size_t FatbinBytes() { return static_cast<std::size_t>(kFatbinEnd - kFatbin); }

}  // namespace crossover::bench
