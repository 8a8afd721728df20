// Decides what the clients of one GPU are asked to do. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "proto/turnstile.h"

namespace crossover::arbiter {

// A Policy is the administrator's setting. It may change while the daemon runs.
enum class Policy : std::uint8_t {
  kOff,      // clients pass everything through
  kObserve,  // clients learn and report; no client takes turns with others
  kEnforce   // turns are taken wherever they can be
};

// Returns the stricter of two policies.
constexpr Policy Stricter(Policy a, Policy b) { return a < b ? a : b; }

// Returns the mode of all clients of a GPU. `phases` holds what each client reports of itself (enum
// crossover_phase); any other value counts as learning. A gated client beside an ungated one would help
// neither, so one client that cannot take turns ungates all. With `measure`, a client that is alone takes
// turns with itself, under kObserve too. That delays it by nothing, the lengths of its turns cannot be seen
// in another way, and an administrator who only observes wants to know what turns would gain.
constexpr crossover_mode ModeFor(Policy policy, std::span<const std::uint32_t> phases, bool measure = false) {
  if (policy == Policy::kOff) return CROSSOVER_MODE_OFF;
  const bool alone = phases.size() == 1;
  if (phases.empty() || (alone ? !measure : policy == Policy::kObserve)) return CROSSOVER_MODE_OBSERVE;
  for (const std::uint32_t phase : phases) {
    if (phase != CROSSOVER_PHASE_LOCKED && phase != CROSSOVER_PHASE_TAKING) return CROSSOVER_MODE_OBSERVE;
  }
  return CROSSOVER_MODE_GATE;
}

}  // namespace crossover::arbiter
