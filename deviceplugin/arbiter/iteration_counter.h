// Computes how long a client's iterations take, from a counter in its page. Pure.
//
// The client can write anything to the counter. If it goes back, or advances faster than iterations can, this
// ignores it and starts to count anew from its value. The client's host runs ahead of its GPU, so the times
// of single iterations vary. Sums over many iterations are right.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/clock.h"
#include "turn/timing_model.h"

namespace crossover::arbiter {

class IterationCounter {
 public:
  static constexpr turn::Time kShortestStep = 100 * base::kNsPerUs;  // shorter iterations are not believed
  static constexpr turn::Time kLeastApart = 2 * base::kNsPerMs;      // between two reports: each is an event

  struct Steps {
    std::uint32_t count = 0;
    turn::Time each = 0;
  };

  // Takes the counter `periods` as it stands at `now`. Returns nothing while the counter has not advanced
  // since the last report. Returns nothing at the first advance either: when the advance before it happened
  // is not known.
  std::optional<Steps> Watch(std::uint32_t periods, turn::Time now) {
    const std::uint32_t count = periods - periods_;
    if (watched_ && count == 0) return std::nullopt;
    const turn::Time since = watched_ ? now - changed_ : 0;
    if (advanced_ && since < kLeastApart) return std::nullopt;
    const bool believed = watched_ && count <= since / kShortestStep;
    const bool known = believed && advanced_;
    watched_ = true;
    advanced_ = believed;
    periods_ = periods;
    changed_ = now;
    if (!known) return std::nullopt;
    return Steps{.count = count, .each = since / count};
  }

  void Reset() { *this = IterationCounter(); }

 private:
  bool watched_ = false;
  std::uint32_t periods_ = 0;
  turn::Time changed_ = 0;  // when `periods_` was first seen
  bool advanced_ = false;   // `periods_` came from an advance
};

}  // namespace crossover::arbiter
