// Measures iterations with CUDA events on the compute stream.
//
// An iteration is made of segments in which the compute stream computes; between them it waits for a
// collective. A segment begins with an event *behind* a marker kernel that follows the wait: whatever else
// holds the stream there, before the first kernel, is not taken for compute.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/log.h"

namespace crossover::trainer {

class Timeline {
 public:
  // `depth`: iterations that may be recorded and not yet collected.
  Timeline(Gpu& gpu, std::size_t depth);

  // All record events on the compute stream. `follows`: the iteration begins where the last one ended, no
  // event between them; its first segment does too, unless it `stalled` first: then OpenSegment begins that.
  void BeginIteration(std::uint64_t iteration, bool follows, bool stalled);
  void OpenSegment();
  void CloseSegment();
  void EndIteration();

  // Waits for the end of the oldest iteration that is not collected, and returns its times.
  IterationRecord Collect();

 private:
  struct Slot {
    std::uint64_t iteration = 0;
    CUevent begin = nullptr;
    CUevent end = nullptr;
    std::vector<CUevent> events;
    std::size_t used = 0;
    std::vector<std::pair<CUevent, CUevent>> segments;
  };

  CUevent RecordNew();
  Slot& current() { return slots_[begun_ % slots_.size()]; }

  Gpu& gpu_;
  std::vector<Slot> slots_;
  std::uint64_t begun_ = 0;  // iterations ended; the current one has this number
  std::uint64_t collected_ = 0;
  CUevent last_end_ = nullptr;
  // The event whose time on the host's clock is known last.
  CUevent known_ = nullptr;
  double known_ns_ = 0;
};

}  // namespace crossover::trainer
