// Explores one turnstile exhaustively, with the code that ships: every interleaving of its clients' memory
// operations with the arbiter's loads and swaps, with kills, late writes, and a watchdog that suspends
// holders.
//
// Clients execute turn::Acquire, turn::Yield and turn::Release one operation at a time. The arbiter is
// turn::Collect, turn::Token::Step and turn::Token::Preempt. For each further access its pass runs again
// from the start: earlier reads return what they returned before, and earlier writes are skipped. The
// explorer tries every choice of the policy, every successor that a client could have been told, and every
// moment at which the watchdog could act.
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
  // The known-bad variants show that the explorer finds faults.
  bool bad_rel_before_gate = false;  // Release writes `rel` before it opens the next gate
  bool bad_blind_revoke = false;     // the arbiter shuts a gate without reading `ready` after it
  bool bad_single_collect = false;   // a lost token is replaced after one look
  bool bad_blind_swap = false;       // the arbiter stores to gates instead of swapping them
  // A client waits at a copy of its gate, which follows every opening at once and which the arbiter cannot
  // shut. This stands for a gate word in device memory, which no CPU reaches.
  bool bad_gate_copy = false;
  bool bad_rel_before_ready = false;  // a yield point writes `rel` before it asks for the next stretch
};

struct ExplorerResult {
  std::uint64_t states = 0;
  std::uint64_t completions = 0;     // states from which a fair run was followed to its end
  bool complete = true;              // false: max_states was reached
  std::optional<std::string> fault;  // the first violation, in words
};

// Explores every state that can be reached from one in which no client has asked for a turn. Stops at the
// first fault, and when more than max_states states are known.
ExplorerResult Explore(const ExplorerOptions& options);

}  // namespace crossover::turn::test
