// An exhaustive explorer of one turnstile: every interleaving of its clients' memory operations with the
// arbiter's loads and stores, with kills, late writes and a watchdog that suspends holders, on the shipped
// code.
//
// Clients execute turn::Acquire, turn::Yield and turn::Release one operation at a time. The arbiter is
// turn::Collect, turn::Token::Step and turn::Token::Preempt, run again from the start of its pass for each
// further access: what it read before is replayed to it, what it wrote before is skipped. Whatever the policy
// could wish, which successor a client could have been told and when the watchdog could act is left open: all
// choices are explored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "turn/token.h"

namespace crossover::turn::test {

struct ExplorerOptions {
  SlotIndex clients = 3;
  std::uint32_t turns = 2;        // per client
  std::uint32_t yields = 0;       // yield points per turn, at most; the arbiter may preempt at each
  std::uint32_t kills = 0;        // at most so many clients are killed, at any instant
  bool late_writes = false;       // the write that a killed client had in flight lands later
  std::uint32_t suspensions = 0;  // at most so many holders are suspended by the watchdog
  std::uint64_t max_states = 20'000'000;
  // Known-bad variants, to show that the explorer sees them.
  bool bad_rel_before_gate = false;  // Release writes `rel` before it opens the next gate
  bool bad_blind_revoke = false;     // the arbiter shuts a gate without reading `ready` after it
  bool bad_single_collect = false;   // a lost token is replaced after one look
  bool bad_blind_swap = false;       // the arbiter stores to gates instead of swapping them
  // A client waits at a copy of its gate that follows every opening at once, and that the arbiter cannot
  // shut: a gate word in device memory, which no CPU reaches.
  bool bad_gate_copy = false;
  bool bad_rel_before_ready = false;  // a yield point writes `rel` before it asks for the next stretch
};

struct ExplorerResult {
  std::uint64_t states = 0;
  std::uint64_t completions = 0;     // states from which a fair run was followed to its end
  bool complete = true;              // false: max_states was reached
  std::optional<std::string> fault;  // the first violation, in words
};

ExplorerResult Explore(const ExplorerOptions& options);

}  // namespace crossover::turn::test
