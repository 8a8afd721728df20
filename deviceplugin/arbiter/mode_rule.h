// Decides what the arbiter asks the clients of one GPU to do. Pure.
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

// Returns the mode of all clients of a GPU. `phases` holds the phase that each client reports (enum
// crossover_phase); any other value counts as learning. A client with turns beside one without would help
// neither, so one client that cannot take turns ends the turns of all. With `measure`, a client that is alone
// takes turns, under kObserve too. That does not delay it, and only turns show how long its compute is. An
// administrator who only observes also wants to know what turns would gain.
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
