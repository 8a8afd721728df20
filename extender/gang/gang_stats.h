// Counts gangs by their state, for the metrics. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// A Wait says what a gang without a place waits for.
enum class Wait {
  kSize,        // its owner has not said its size yet
  kPods,        // pods are missing, or have gates of other controllers
  kCorrection,  // its labels or annotations are invalid
  kHoldOff,     // the pause after a failed plan
  kPlace        // GPUs
};
inline constexpr std::size_t kWaitKinds = 5;
// Returns the word for `wait` in the metrics.
const char* NameOf(Wait wait);

// A GangStats has the number of gangs in each state, and of pods that are between reservation and binding.
struct GangStats {
  std::array<int, kWaitKinds> waiting{};                 // gangs without a place, by Wait
  int placing = 0;                                       // gangs with a plan and no bound pod
  int running = 0;                                       // gangs with bound pods
  int lacking = 0;                                       // running gangs with pods that wait for a place
  int claims = 0;                                        // gangs for which others make room, among `placing`
  std::array<std::uint64_t, kClaimEnds> claims_ended{};  // by ClaimEnd, since this leader began
  std::uint64_t gangs_left = 0;                          // gangs that made room, since this leader began
  // Levels of compressed reductions that were chosen, by place in base::kShrinkChoices, since this leader
  // began.
  std::array<std::uint64_t, base::kShrinkChoiceCount> choices{};
  int reservations = 0;  // pods that have a place and are not bound yet
  // The earliest instant, in seconds since 1970, since which a gang in kHoldOff or kPlace is complete; 0:
  // there is none.
  double oldest_s = 0;
};

// Returns the numbers of gangs. A gang without a living pod does not count.
GangStats GangStatsOf(const GangStore& store);

}  // namespace crossover::extender
