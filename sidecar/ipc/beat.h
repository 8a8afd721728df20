// Tells whether a counter of another process stands still. Pure: the caller reads the clock and the counter.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/clock.h"
#include "turn/signal.h"

namespace crossover::ipc {

// A Beat remembers what it saw last. It is not thread-safe.
class Beat {
 public:
  static constexpr std::int64_t kPatienceNs = turn::kBeatStandsStillNs;

  constexpr Beat() = default;

  // Notes the beat, and returns whether it stands still. Only times in which this process looks at it count:
  // the process may have been stopped between two looks, together with the signaller. REQUIRES: `now`, in ns,
  // does not go back.
  bool StandsStill(std::uint32_t beat, std::int64_t now) {
    const bool changed = !seen_ || beat != beat_;
    still_ns_ = changed ? 0 : still_ns_ + std::min(now - last_ns_, kLongestStepNs);
    seen_ = true;
    beat_ = beat;
    last_ns_ = now;
    return still_ns_ >= kPatienceNs;
  }
  // Begins anew: the beat counts as one that has just changed.
  void Forget() { seen_ = false; }

 private:
  static constexpr std::int64_t kLongestStepNs = 50 * base::kNsPerMs;

  bool seen_ = false;
  std::uint32_t beat_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t still_ns_ = 0;
};

}  // namespace crossover::ipc
