// How long a client's iterations take, from a counter that it keeps in its page. Pure.
//
// The counter is the client's own word: one that goes back, or forward faster than iterations can, tells
// nothing, and is watched anew from there. Its host runs ahead of its GPU, so single iterations jitter;
// sums over many are right.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/clock.h"
#include "turn/rhythm.h"

namespace crossover::arbiter {

class StepCounter {
 public:
  static constexpr turn::Time kShortestStep = 100 * base::kNsPerUs;  // of an iteration that is believed
  static constexpr turn::Time kLeastApart = 2 * base::kNsPerMs;      // reports: they are events

  struct Steps {
    std::uint32_t count = 0;
    turn::Time each = 0;
  };

  // `periods` as it stands at `now`. Nothing while it has not advanced since it was last reported, nor at the
  // first advance: when the one before it was is not known.
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

  void Reset() { *this = StepCounter(); }

 private:
  bool watched_ = false;
  std::uint32_t periods_ = 0;
  turn::Time changed_ = 0;  // when `periods_` was first seen
  bool advanced_ = false;   // it came of an advance
};

}  // namespace crossover::arbiter
