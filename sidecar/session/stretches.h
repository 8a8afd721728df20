// When a turn has its next yield point, counted in launches: a host runs ahead of its GPU, so that a clock
// would tell it nothing.
//
// The arbiter says how many launches make a stretch where the turn is to be broken for somebody. Where it
// does not, a turn that has become twice as long as the job's turns are (an evaluation) gets yield points
// too.
//
// Launch() may be called from any thread; everything else with the owner's lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

class Stretches {
 public:
  constexpr Stretches() = default;

  // A turn begins. `asked`: launches per stretch as the arbiter says; 0 for none, and nothing is too large.
  void Begin(std::uint32_t asked);
  // A launch in the turn. True: a yield point is due. Neither locks nor waits.
  bool Launch() { return left_.fetch_sub(1, std::memory_order_relaxed) <= 1; }
  // Another thread may have made it meanwhile.
  bool due() const { return left_.load(std::memory_order_relaxed) <= 0; }
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
  // Threads that launch at once may take `left_` below nothing.
  std::int32_t Passed() const { return length_ - left_.load(std::memory_order_relaxed); }

  std::atomic<std::int32_t> left_{0};  // launches until the yield point
  std::int32_t length_ = 0;            // of the present stretch
  std::int32_t before_ = 0;            // launches of the turn before it
  std::int32_t usual_ = 0;
};

}  // namespace crossover::session
