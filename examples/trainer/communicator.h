// The job's NCCL communicator. Every collective is wrapped in a group, as PyTorch does it. One thread uses
// it; Abort() alone may be called from another. Calls throw Failure.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <mutex>

#include "examples/trainer/options.h"

namespace crossover::trainer {

class Communicator {
 public:
  // Ends when all ranks have come. `job`: see ShareFromRankZero().
  Communicator(const Rank& rank, std::uint64_t job);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // In place, float32.
  void AllReduceSum(float* data, std::size_t count, cudaStream_t stream);
  void BroadcastFromRankZero(float* data, std::size_t count, cudaStream_t stream);

  // Ends collectives that wait for ranks that will not come.
  void Abort();

 private:
  ncclComm_t comm_ = nullptr;
  std::mutex mutex_;
  bool aborted_ = false;
};

}  // namespace crossover::trainer
