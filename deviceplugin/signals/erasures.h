// Notices when signals are erased repeatedly: their number, which a signaller counts, does not end. Pure. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/clock.h"
#include "turn/policy.h"

namespace crossover::signals {

class Erasures {
 public:
  // A signal that is lost by chance is written again once or twice. One that is erased without pause is
  // written again 15 times a second.
  static constexpr std::uint32_t kMany = 100;
  static constexpr turn::Time kWithin = 10 * base::kNsPerSecond;
  static constexpr turn::Time kFor = 60 * base::kNsPerSecond;
  // A client that is killed at its open gate is signalled so often until the kernel has ended it: the pause
  // between two signals doubles, from 1 ms to 64 ms.
  static constexpr std::int32_t kOfALeaver = 12;

  // Begins to watch a page whose word has `count`, which wraps and which any client may write.
  void Begin(std::uint32_t count, turn::Time now) { *this = {}, seen_ = count, window_ = now; }
  // Notes that the word has `count` at `now`. Returns by how much it has grown since the last call. A word
  // that has gone back counts as not grown.
  std::uint32_t Note(std::uint32_t count, turn::Time now) {
    const std::uint32_t more = count - seen_;
    const std::uint32_t grown = more < kBack ? more : 0;
    seen_ = count;
    if (now - window_ >= kWithin) {
      window_ = now;
      in_window_ = 0;
    }
    in_window_ += static_cast<std::int32_t>(grown < kMany ? grown : kMany);
    if (in_window_ >= static_cast<std::int32_t>(kMany)) until_ = now + kFor;
    return grown;
  }
  // Notes that a client has left. Up to kOfALeaver signals, of before or after the call, do not count, since
  // that client may have caused them. What several clients leave unused does not add up.
  void NoteLeaver() { in_window_ = std::max(in_window_ - kOfALeaver, -kOfALeaver); }
  // Returns whether kMany signals were written again within kWithin, less than kFor ago.
  bool many(turn::Time now) const { return now < until_; }

 private:
  static constexpr std::uint32_t kBack = 1u << 31;

  std::uint32_t seen_ = 0;
  std::int32_t in_window_ = 0;  // below 0: this many do not count
  turn::Time window_ = 0;
  turn::Time until_ = 0;
};

}  // namespace crossover::signals
