// Takes turns as a data-parallel job does whose collectives take no time, and notes when each turn's kernels
// began and ended by the GPU's own clock. Which turns, and by which gates, is up to the library that is
// preloaded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/nccl.h"

namespace crossover::bench {

// A Held is one turn: from the start of its first kernel to the end of its last one, in ns.
struct Held {
  std::int64_t entered = 0;
  std::int64_t left = 0;
};

// It is not thread-safe.
class TurnTaker {
 public:
  // It remembers so many turns.
  static constexpr std::uint64_t kKept = 1 << 13;

  // Each turn computes for `hold_us`. Known bad: with `look_us` above 0, the host ends the turn once it has
  // seen that the stream is done, for which it looks every `look_us`.
  TurnTaker(std::int64_t hold_us, std::int64_t look_us);
  ~TurnTaker();
  TurnTaker(const TurnTaker&) = delete;
  TurnTaker& operator=(const TurnTaker&) = delete;

  // Queues one turn and the collective that ends it. Runs ahead of the GPU by a few turns.
  void Step();
  std::uint64_t steps() const { return steps_; }
  // Returns whether the GPU has ended turn `step`.
  bool Ended(std::uint64_t step) const;
  // Returns the turns from `first` up to `last`. REQUIRES: they have ended, and are among the last kKept.
  std::vector<Held> Between(std::uint64_t first, std::uint64_t last) const;

 private:
  struct Stamps {
    std::array<Held, kKept> turn;
  };

  void Stamp(const std::int64_t* where) const;
  void Collective();

  std::int64_t hold_us_, look_us_;
  RealGpu gpu_;
  CUstream side_;
  CUevent computed_ = nullptr, reduced_ = nullptr;
  ncclComm_t comm_ = nullptr;
  Stamps* stamps_;
  CUdeviceptr on_device_;
  std::uint64_t steps_ = 0;
};

}  // namespace crossover::bench
