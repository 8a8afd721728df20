// Sums values over the ranks on the host, over TCP and without NCCL, as jobs do that reduce gradients with
// gloo, MPI or a parameter server. Rank 0 adds up, in the order of ranks. One thread uses it; only Abort()
// may be called from another. Calls throw Failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/fd.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

class HostExchange {
 public:
  // Blocks until all ranks have come. `job`: see ShareFromRankZero(). `least` is the shortest time of a
  // sum, as over a slower network.
  HostExchange(const Rank& rank, std::uint64_t job, std::chrono::duration<double, std::milli> least);

  // Sums `values` over all ranks, in place. All ranks get the same result, to the bit.
  void Sum(std::span<float> values);

  // Ends a sum that waits for ranks that will not come.
  void Abort();

 private:
  void Gather(std::uint32_t world);

  const std::chrono::duration<double, std::milli> least_;
  std::vector<base::UniqueFd> peers_;  // on rank 0: ranks 1, 2, ...; on others: rank 0
  std::vector<float> received_;
  base::UniqueFd listener_;
  bool adds_;
};

}  // namespace crossover::trainer
