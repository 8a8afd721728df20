// Looks for states from which jobs that take turns between their gaps cannot go on: exhaustively for small
// programs, and by random schedules for large ones.
//
// At each point at which no rank can execute a step, the arbiters make a few passes in which they want a rank
// that waits. Then a rank must be able to go on. Since programs end, that suffices for all of them to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/unit/turn/gap_world.h"

namespace crossover::turn::test {

struct GapResult {
  std::uint64_t states = 0;               // of an exploration: all that can be reached; of a walk: its length
  std::uint64_t standing = 0;             // states in which no rank could execute a step
  std::uint64_t kept = 0;                 // releases that kept the token at the rank's own gate
  bool complete = true;                   // false: max_states was reached
  std::optional<std::string> fault = {};  // the first state with a fault, in words
};

// Explores every order of the ranks' operations and the arbiters' passes, every choice of the arbiters, every
// successor, and kills as the options say. Stops at the first fault.
GapResult ExploreGaps(const GapProgram& program, const GapOptions& options,
                      std::uint64_t max_states = 20'000'000);

// Follows one schedule drawn from `seed` to the end of all ranks, or to a fault.
GapResult WalkGaps(const GapProgram& program, const GapOptions& options, std::uint64_t seed);

}  // namespace crossover::turn::test
