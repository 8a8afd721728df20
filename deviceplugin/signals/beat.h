// Watches a word that increases while its writer works. Pure. Not thread-safe.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "turn/policy.h"
#include "turn/signal.h"

namespace crossover::signals {

class Beat {
 public:
  static constexpr turn::Time kStill = turn::kBeatStandsStillNs;

  // Begins to watch: the word counts as changed at `now`.
  void Begin(turn::Time now) { changed_ = now; }
  // Notes that the word has `value` at `now`.
  void Note(std::uint32_t value, turn::Time now) {
    if (value != seen_) changed_ = now;
    seen_ = value;
  }
  // Returns whether the word has not changed for kStill.
  bool still(turn::Time now) const { return now - changed_ >= kStill; }

 private:
  std::uint32_t seen_ = 0;
  turn::Time changed_ = 0;
};

}  // namespace crossover::signals
