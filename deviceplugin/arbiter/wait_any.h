// Waiting for several futex words at once.
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

bool CanWaitForManyWords();

// Sleeps until a word is woken or differs from what is expected of it, or until `deadline` (absolute,
// CLOCK_MONOTONIC). Spurious returns happen. Without CanWaitForManyWords() only the last word is waited for,
// and never for longer than kBlindWait: a change of the others is seen that much later.
inline constexpr turn::Time kBlindWait = 20 * base::kNsPerMs;
void WaitAny(std::span<const AwaitedWord> words, turn::Time deadline);

}  // namespace crossover::arbiter
