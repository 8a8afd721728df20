// Explores one turnstile exhaustively, with the code that ships: every interleaving of its clients' memory
// operations with the arbiter's loads and swaps, with kills, late writes, and a watchdog that suspends
// holders.
//
// Clients execute turn::Acquire, turn::Yield and turn::Release one operation at a time, or the same with
// signals (turn/signal.h). The arbiter is turn::Collect, turn::Token::Step and turn::Token::Preempt. For each
// further access its pass runs again from the start: earlier reads return what they returned before, and
// earlier writes are skipped. The explorer tries every choice of the policy, every successor that a client
// could have been told, and every moment at which the watchdog could act.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "turn/token.h"

namespace crossover::turn::test {

// Says what the explorer makes of the signal words of turn/signal.h.
enum class Signals : std::uint8_t {
  kNone,  // clients wait for their gates alone
  kAny,   // signals come early, late, never and forged: a wait for one may end at any time
  kKept   // signal words keep what is written to them
};

// Says who signals the gates that no stream has opened. Matters only to clients that wait for signals.
enum class Signaller : std::uint8_t {
  kFollows,          // the shipped rule, turn::IsDue; it may be slow, and die and start over, at any access
  kWakes,            // known-bad: it signals a gate that a CPU has opened, once, and never looks at the page
  kDiesWithArbiter,  // it follows until the arbiter dies
  kDead
};

struct ExplorerOptions {
  SlotIndex clients = 3;
  std::uint32_t turns = 2;        // per client
  std::uint32_t yields = 0;       // yield points per turn, at most; the arbiter may preempt at each
  std::uint32_t kills = 0;        // at most so many clients are killed, at any instant
  bool late_writes = false;       // the write that a killed client had in flight lands later
  std::uint32_t suspensions = 0;  // at most so many holders are suspended by the watchdog
  bool arbiter_dies = false;      // at any access; the clients then open their gates themselves
  Signals signals = Signals::kNone;
  Signaller signaller = Signaller::kFollows;
  bool torn_looks = false;    // kFollows: clients go on between the words that a look reads
  bool late_signals = false;  // kKept: a write to a signal word lands after any writes to the page
  std::uint64_t max_states = 20'000'000;
  // The known-bad variants show that the explorer finds faults.
  bool bad_rel_before_gate = false;  // Release writes `rel` before it opens the next gate
  bool bad_blind_revoke = false;     // the arbiter shuts a gate without reading `ready` after it
  bool bad_single_collect = false;   // a lost token is replaced after one look
  bool bad_blind_swap = false;       // the arbiter stores to gates instead of swapping them
  // A client waits at a copy of its gate, which follows every opening at once and which the arbiter cannot
  // shut. This stands for a gate word in device memory, which no CPU reaches.
  bool bad_gate_copy = false;
  bool bad_rel_before_ready = false;   // a yield point writes `rel` before it asks for the next stretch
  bool bad_signal_alone = false;       // a client goes in by its signal, and does not ask its gate
  bool bad_shut_before_reset = false;  // a client shuts its gate before it resets its signal
  // The gates lie in memory that client 0 exports, and that is freed when it is killed.
  bool bad_exported_gates = false;
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
