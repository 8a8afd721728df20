// Decides when a turn has its next yield point, counted in launches. A host runs ahead of its GPU, so a
// clock would tell it nothing.
//
// If the arbiter may want to break the turn for another client, it says how many launches make a stretch. If
// it does not, a turn still gets yield points once it is twice as long as the job's turns usually are (an
// evaluation).
//
// launches_left.h holds the launches that are left of a stretch, and the hook of a launch counts them there.
// Any thread may call Launch(). Everything else REQUIRES the owner's lock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sidecar/session/launches_left.h"

namespace crossover::session {

// Stretches counts the launches of one client's turns.
class Stretches {
 public:
  constexpr Stretches() = default;

  // Begins a turn. `asked` is the number of launches per stretch that the arbiter asks for; 0 means none,
  // and no value is too large.
  void Begin(std::uint32_t asked);
  // Counts a launch in the turn. Returns true if a yield point is due. Neither locks nor waits.
  bool Launch() {
    const bool due = !CountLaunch();
    if (due) launches_left.store(0, std::memory_order_relaxed);
    return due;
  }
  // Returns whether a yield point is still due: another thread may have made it meanwhile.
  bool due() const { return launches_left.load(std::memory_order_relaxed) <= 0; }
  // Begins the next stretch, after a yield point was made.
  void Next(std::uint32_t asked);
  // Ends the turn.
  void End();

  // Returns the number of launches since the turn began.
  std::int32_t launched() const { return before_ + Passed(); }
  // Returns the number of launches in the longest of the last turns, 0 while unknown.
  std::uint32_t usual() const { return static_cast<std::uint32_t>(usual_); }

 private:
  void Arm(std::uint32_t asked, std::int32_t otherwise);
  // Returns the number of launches in the present stretch. A thread that was counting while the stretch
  // began may have left the count of the stretch before, so the result is bounded.
  std::int32_t Passed() const {
    return std::clamp(length_ - launches_left.load(std::memory_order_relaxed), 0, length_);
  }

  std::int32_t length_ = 0;  // launches in the present stretch
  std::int32_t before_ = 0;  // launches of the turn before the present stretch
  std::int32_t usual_ = 0;
};

}  // namespace crossover::session
