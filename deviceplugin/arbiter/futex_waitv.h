// Waits for several futex words at once.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/clock.h"
#include "turn/policy.h"

namespace crossover::arbiter {

struct AwaitedWord {
  const std::uint32_t* word;
  std::uint32_t expected;
};

// Returns whether the kernel has futex_waitv (5.16) and allows it.
bool HasFutexWaitv();

// Sleeps until a word is woken, or differs from its expected value, or until `deadline` (absolute, ns,
// CLOCK_MONOTONIC). May also return early without a reason. Without HasFutexWaitv() it waits for the
// last word only, and for at most kBlindWait, so the caller sees a change of another word that much later.
inline constexpr turn::Time kBlindWait = 20 * base::kNsPerMs;
void FutexWaitv(std::span<const AwaitedWord> words, turn::Time deadline);

}  // namespace crossover::arbiter
