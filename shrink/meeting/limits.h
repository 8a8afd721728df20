// Says how long the parts of a vote may take, and lets tests watch its moments. Pure values.
#pragma once

#include <cstdint>

#include "shrink/vote/messages.h"
#include "shrink/vote/phases.h"

namespace crossover::shrink::meeting {

// Limits are in milliseconds. Only tests have others than these.
struct Limits {
  std::uint32_t collector_ms = vote::kCollectorLimitMs;
  std::uint32_t greeting_ms = vote::kGreetingLimitMs;
  std::uint32_t verdict_ms = vote::kVerdictLimitMs;
  std::uint32_t linger_ms = 1'000;  // rank 0 keeps connections so long after the verdict
};

// A Moment is one at which something may go wrong.
enum class Moment : std::uint8_t {
  // These are of rank 0.
  kListens,  // the port is open, and the ID is not made yet
  kGathers,  // it begins to accept
  kGreets,   // a connection is accepted, and not greeted yet
  kHeard,    // a hello has arrived, and does not count yet
  kDecided,  // it has decided, and told no rank
  kToldOne,  // one rank was sent the verdict
  kToldAll,  // all were
  // These are of each other rank.
  kConnects,  // before it connects
  kConnected,
  kGreeted,   // it has the greeting, and has not said hello
  kSaidHello  // it has said hello, and has no verdict
};

// A Watcher is called at each moment, with the socket that it is about, or -1. The product has none.
struct Watcher {
  void (*at)(void* context, Moment moment, int socket) = nullptr;
  void* context = nullptr;
  void At(Moment moment, int socket) const {
    if (at != nullptr) at(context, moment, socket);
  }
};

// An Outcome is what a rank has at the end of a vote: kPlain, kNarrow or kFailed.
struct Outcome {
  vote::VoterPhase phase = vote::VoterPhase::kPlain;
  std::uint32_t budget_mib = 0;  // of kNarrow: the least of all ranks
  vote::Reason reason;           // of kPlain and kFailed
};

}  // namespace crossover::shrink::meeting
