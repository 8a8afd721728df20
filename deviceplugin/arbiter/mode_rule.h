// What the clients of one GPU are asked to do. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "proto/turnstile.h"

namespace crossover::arbiter {

// The administrator's switch, live.
enum class Policy : std::uint8_t {
  kOff,      // clients pass everything through
  kObserve,  // clients learn and report, nobody takes turns with others
  kEnforce   // turns are taken wherever they can be
};

// The stricter of two.
constexpr Policy Stricter(Policy a, Policy b) { return a < b ? a : b; }

// `phases`: what each client of the GPU says of itself (enum crossover_phase); anything else counts as
// learning. Gated beside ungated would help neither, so one client that cannot take turns ungates all.
// `measure`: one that is alone takes turns with itself, which keeps it from nothing: how long they are is not
// seen otherwise, and whoever only looks at first wants to know what turns would gain.
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
