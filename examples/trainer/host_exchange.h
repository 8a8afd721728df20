// Sums over the ranks that the host makes, over TCP and without NCCL: as jobs do whose gradients go by gloo,
// MPI or a parameter server. Rank 0 adds up, in the order of ranks. One thread uses it; Abort() alone may be
// called from another. Calls throw Failure.
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
  // Ends when all ranks have come. `job`: see ShareFromRankZero(). `least`: how long a sum takes at least, as
  // over a slower network.
  HostExchange(const Rank& rank, std::uint64_t job, std::chrono::duration<double, std::milli> least);

  // In place. All ranks have the same result, to the bit.
  void Sum(std::span<float> values);

  // Ends a sum that waits for ranks that will not come.
  void Abort();

 private:
  void Gather(std::uint32_t world);

  const std::chrono::duration<double, std::milli> least_;
  std::vector<base::UniqueFd> peers_;  // of rank 0: by rank, from 1 on; of others: rank 0
  std::vector<float> received_;
  base::UniqueFd listener_;
  bool adds_;
};

}  // namespace crossover::trainer
