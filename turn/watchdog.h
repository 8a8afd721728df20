// When a turn has lasted too long.
//
// A holder may be stopped, stuck or hostile. The bound is on the holder alone: four times its own learned
// turn, never under a floor that a loaded machine reaches by itself. Past it the others are let in beside it;
// a client that does it twice is named as an offender, for the membership to ungate. What lies further back
// than `forgive` is forgotten, and an offender is tried again after as long: once more, and it is named
// again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "turn/policy.h"

namespace crossover::turn {

struct WatchdogSettings {
  Time floor = 200'000'000;
  std::int64_t factor = 4;
  std::uint32_t offences = 2;
  Time forgive = 300'000'000'000;
};

inline Time TurnBound(const WatchdogSettings& settings, Time learned_turn) {
  if (learned_turn == kNever) return settings.floor;
  return std::max(settings.floor, settings.factor * learned_turn);
}

}  // namespace crossover::turn
