// How the gangs stand, in numbers. Pure.
#pragma once

#include <array>
#include <cstddef>

#include "extender/gang/desk.h"

namespace crossover::extender {

// What gangs wait for that have no place.
enum class Wait {
  kSize,        // that whoever made them says how many they are
  kPods,        // that all are there, and free of others' gates
  kCorrection,  // what they say makes no sense
  kHoldOff,     // for the next attempt, after one that failed
  kPlace        // for GPUs
};
inline constexpr std::size_t kWaitKinds = 5;
const char* NameOf(Wait wait);

struct Tally {
  std::array<int, kWaitKinds> waiting{};  // gangs without a place, by Wait
  int placing = 0;                        // gangs that have one and are not bound yet
  int running = 0;                        // gangs of which some pods are bound
  int lacking = 0;                        // of these, those of which others wait for a place
  int reservations = 0;                   // pods that have a place and are not bound yet
  // Since when all pods are there of the gang that waits longest for GPUs or its next attempt, since 1970; 0:
  // none.
  double oldest_s = 0;
};

Tally TallyOf(const Desk& desk);

}  // namespace crossover::extender
