// Measures all-reduces of the NCCL that the loader finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/driver/gpu.h"

namespace crossover::bench {

struct Place {
  int rank;
  int ranks;
  std::string directory;  // where rank 0 writes the communicator's ID for the others
};

// Returns the wall times, in ns, of `count` all-reduces of `bytes` bytes. All ranks start each of them at
// about the same time. Blocks until all ranks have joined.
std::vector<std::int64_t> TimeAllReduces(const Gpu& gpu, const Place& place, std::size_t bytes, int count);

}  // namespace crossover::bench
