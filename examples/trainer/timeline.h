// Measures iterations with CUDA events on the compute stream.
//
// An iteration consists of segments in which the compute stream computes. Between them it waits for a
// collective. A segment begins with an event *behind* a marker kernel that follows the wait. So anything
// else that holds the stream there, before the first kernel, does not count as compute.
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
  // `depth` is the number of iterations that may be recorded and not yet collected.
  Timeline(Gpu& gpu, std::size_t depth);

  // These record events on the compute stream. With `follows`, the iteration begins where the last one
  // ended, without an event between them. Its first segment begins there too, unless the stream `stalled`
  // first; then OpenSegment() begins the segment.
  void BeginIteration(std::uint64_t iteration, bool follows, bool stalled);
  void OpenSegment();
  void CloseSegment();
  void EndIteration();

  // Blocks until the oldest iteration that was not collected has ended. Returns its times.
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
  std::uint64_t begun_ = 0;  // number of iterations ended, which is the number of the current one
  std::uint64_t collected_ = 0;
  CUevent last_end_ = nullptr;
  // This is the last event whose time on the host's clock is known.
  CUevent known_ = nullptr;
  double known_ns_ = 0;
};

}  // namespace crossover::trainer
