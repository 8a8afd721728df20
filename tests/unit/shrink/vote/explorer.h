// Explores every state of a vote of a few ranks that can be reached: each order of sends, receipts, losses,
// deaths, stops and time limits, with the code that ships.
//
// Three things must hold. No two ranks continue with different verdicts, nor narrowed where a rank does not
// propose so. Each run has an end: no state comes again. In a state in which nothing can happen but faults,
// each rank that lives has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/unit/shrink/vote/world.h"

namespace crossover::shrink::vote::test {

struct Result {
  std::uint64_t states = 0;
  // These count states in which nothing can happen but faults.
  std::uint64_t ends = 0;
  std::uint64_t all_narrow = 0;  // all ranks continue narrowed
  std::uint64_t all_plain = 0;
  std::uint64_t some_fail = 0;       // the creation of the communicator fails on some rank
  std::optional<std::string> fault;  // the first violation, in words
};

// Visits all states, or those up to the first fault.
Result Explore(const Options& options);

}  // namespace crossover::shrink::vote::test
