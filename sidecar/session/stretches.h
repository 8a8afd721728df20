// When a turn has its next yield point, counted in launches: a host runs ahead of its GPU, so that a clock
// would tell it nothing.
//
// The arbiter says how many launches make a stretch where the turn is to be broken for somebody. Where it
// does not, a turn that has become twice as long as the job's turns are (an evaluation) gets yield points
// too.
//
// What is left of a stretch is in launches_left.h, where the hook of a launch counts it. Launch() may be
// called from any thread; everything else with the owner's lock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sidecar/session/launches_left.h"

namespace crossover::session {

class Stretches {
 public:
  constexpr Stretches() = default;

  // A turn begins. `asked`: launches per stretch as the arbiter says; 0 for none, and nothing is too large.
  void Begin(std::uint32_t asked);
  // A launch in the turn. True: a yield point is due. Neither locks nor waits.
  bool Launch() {
    const bool due = !CountLaunch();
    if (due) launches_left.store(0, std::memory_order_relaxed);
    return due;
  }
  // Another thread may have made it meanwhile.
  bool due() const { return launches_left.load(std::memory_order_relaxed) <= 0; }
  // A yield point was made.
  void Next(std::uint32_t asked);
  // The turn ends.
  void End();

  // Launches since the turn began.
  std::int32_t launched() const { return before_ + Passed(); }
  // Launches in the longest of the last turns; 0 while unknown.
  std::uint32_t usual() const { return static_cast<std::uint32_t>(usual_); }

 private:
  void Arm(std::uint32_t asked, std::int32_t otherwise);
  // A thread that was counting while a stretch began may have left there what was left of another one.
  std::int32_t Passed() const {
    return std::clamp(length_ - launches_left.load(std::memory_order_relaxed), 0, length_);
  }

  std::int32_t length_ = 0;  // of the present stretch
  std::int32_t before_ = 0;  // launches of the turn before it
  std::int32_t usual_ = 0;
};

}  // namespace crossover::session
