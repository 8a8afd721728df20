// Collects the times and losses of the iterations that a GPU has ended, and prints some losses on rank 0.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/trainer/gpu.h"
#include "examples/trainer/log.h"
#include "examples/trainer/options.h"
#include "examples/trainer/timeline.h"

namespace crossover::trainer {

// It is not thread-safe. Calls throw Failure. REQUIRES: the arguments of the constructor outlive it.
class Progress {
 public:
  Progress(const Options& options, const Rank& rank, Gpu& gpu, Timeline& timeline);

  // Ends iteration `i` on the compute stream. `losses` is the device's array of all iterations.
  void EndIteration(std::uint64_t i, const float* losses);
  // Collects what has to be collected once iteration `i` is queued. The host stays at least one iteration
  // ahead of what it reads.
  void FollowBehind(std::uint64_t i);
  // Waits for all iterations that were queued.
  void CollectRest();
  // Reads the losses of all iterations. REQUIRES: they are there.
  void ReadLosses(const float* losses);

  const std::vector<IterationRecord>& records() const { return records_; }
  const std::vector<float>& losses() const { return losses_; }  // of all iterations; 0 where it is not known

 private:
  static constexpr std::uint64_t kPinned = 4;

  float* PinnedLoss(std::uint64_t i) { return &pinned_losses_[i / options_.log_every % kPinned]; }
  void CollectThrough(std::uint64_t last);

  const Options& options_;
  const Rank& rank_;
  Gpu& gpu_;
  Timeline& timeline_;
  float* const pinned_losses_;
  std::vector<float> losses_;
  std::vector<IterationRecord> records_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t next_print_ = 0;
};

}  // namespace crossover::trainer
