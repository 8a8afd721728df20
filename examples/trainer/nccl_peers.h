// Lets reductions (examples/reductions) reach other ranks over NCCL: what they exchange goes through buffers
// on the GPU. One thread uses it. Calls throw Failure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/reductions/peers.h"
#include "examples/trainer/communicator.h"
#include "examples/trainer/gpu.h"

namespace crossover::trainer {

class NcclPeers : public reductions::Peers {
 public:
  // `split` is one of the communicator's, in which this rank has `place` of `size`. REQUIRES: the arguments
  // outlive it.
  NcclPeers(Gpu& gpu, Communicator& communicator, std::size_t split, std::size_t place, std::size_t size);

  std::size_t place() const override { return place_; }
  std::size_t size() const override { return size_; }
  std::vector<reductions::Bytes> Exchange(const std::vector<reductions::Bytes>& sent,
                                          const std::vector<std::size_t>& expected) override;
  void ReduceScatterSum(std::span<const float> all, std::span<float> mine) override;
  void AllGather(std::span<const float> mine, std::span<float> all) override;
  void AllReduceBf16(std::span<std::uint16_t> values) override;

 private:
  // A Staging is memory on the GPU that grows as it is needed.
  struct Staging {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };

  void* Room(Staging& staging, std::size_t bytes);
  // Returns the memory on the GPU, with these bytes copied there.
  void* Uploaded(const void* host, std::size_t bytes);
  // Waits for what was called, and copies its result to the host.
  void Collect(void* host, const void* device, std::size_t bytes);

  Gpu& gpu_;
  Communicator& communicator_;
  const std::size_t split_, place_, size_;
  Staging out_, in_;
};

}  // namespace crossover::trainer
