// Times all-reduces of the NCCL that the loader finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/driver/gpu.h"

namespace crossover::bench {

struct Place {
  int rank;
  int ranks;
  std::string directory;  // where rank 0 leaves the communicator's id for the others
};

// Wall times in ns of `count` all-reduces of `bytes`, each begun by all ranks at about the same time.
std::vector<std::int64_t> TimeAllReduces(const Gpu& gpu, const Place& place, std::size_t bytes, int count);

}  // namespace crossover::bench
