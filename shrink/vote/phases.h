// Defines the states of a vote, and how each event changes them. Pure values.
//
// Each table below is the whole of what its Next() does. An event that has no row changes nothing.
#pragma once

#include <cstdint>

namespace crossover::shrink::vote {

// A CollectorPhase says what the process of rank 0 has decided.
//
//   event        from        to
//   kCompletes   kGathers    kNarrow
//   kRefuses     kGathers    kPlain
//   kLost        kGathers    kPlain
//   kTimeLimit   kGathers    kPlain
//
// A decision stays: there is no row from kNarrow or kPlain.
enum class CollectorPhase : std::uint8_t {
  kGathers,  // some rank has not said hello
  kNarrow,   // all ranks said the same: the communicator is narrowed
  kPlain     // it runs plain
};
enum class CollectorEvent : std::uint8_t {
  kAgrees,     // a rank said what this rank says, and others are still missing
  kCompletes,  // a rank said so, and it was the last one
  kRefuses,    // a rank said something else, or no, or said hello twice
  kLost,       // a rank that said hello has lost its connection
  kTimeLimit   // the time limit of the vote is over
};
CollectorPhase Next(CollectorPhase phase, CollectorEvent event);
constexpr bool IsDecided(CollectorPhase phase) { return phase != CollectorPhase::kGathers; }

// A VoterPhase says how far a rank is that is not rank 0.
//
//   event          from         to
//   kGreeted       kConnects    kWaits
//   kSaysNo        kConnects    kPlain
//   kUnreachable   kConnects    kPlain
//   kBroken        kConnects    kPlain
//   kLost          kConnects    kPlain
//   kTimeLimit     kConnects    kPlain
//   kPlain         kWaits       kPlain
//   kNarrow        kWaits       kNarrow
//   kBroken        kWaits       kFailed
//   kSendFailed    kWaits       kFailed
//   kLost          kWaits       kFailed
//   kTimeLimit     kWaits       kFailed
//
// In kConnects the rank has not said hello, so rank 0 cannot decide to narrow. In kWaits it can have decided
// so, and this rank cannot know it without the verdict.
enum class VoterPhase : std::uint8_t {
  kConnects,  // it has not said hello
  kWaits,     // it has begun to say hello, and has no verdict
  kPlain,     // it continues, plain
  kNarrow,    // it continues, narrowed
  kFailed     // the creation of its communicator fails
};
enum class VoterEvent : std::uint8_t {
  kGreeted,      // rank 0 greets it in this version, and it is ready: it says hello
  kSaysNo,       // rank 0 greets it, and it is not ready, or rank 0 has another version
  kUnreachable,  // no connection to rank 0 can be made
  kBroken,       // it receives bytes that rank 0 would not send
  kSendFailed,   // its hello could not be sent as a whole; a part or all of it may arrive
  kLost,         // its connection has ended
  kTimeLimit,    // its time limit for this phase is over
  kPlain,        // the verdict is plain
  kNarrow        // the verdict is narrow
};
VoterPhase Next(VoterPhase phase, VoterEvent event);
constexpr bool Continues(VoterPhase phase) {
  return phase == VoterPhase::kPlain || phase == VoterPhase::kNarrow;
}
constexpr bool HasEnded(VoterPhase phase) { return Continues(phase) || phase == VoterPhase::kFailed; }

// A GangMemory says whether a vote of this process has ended other than narrowed. Such a gang votes no more:
// a process that says nothing is always safe.
//
//   ended as             from         to
//   kPlain, kFailed      kVotes       kRefused
enum class GangMemory : std::uint8_t { kVotes, kRefused };
GangMemory Next(GangMemory memory, VoterPhase ended);

// An Origin says by which call a communicator was made. All its ranks made the same call.
enum class Origin : std::uint8_t {
  kInit,   // ncclCommInitRank, or the same with a configuration that blocks
  kSplit,  // ncclCommSplit
  kShrink,
  kGrow,
  kOther  // several IDs, several GPUs of one process, not blocking
};

// A Start says what a new communicator does.
enum class Start : std::uint8_t {
  kVotes,
  kInherits,  // it has the verdict of its parent: each of its ranks has that of the parent
  kPlain      // it runs plain, and says nothing
};
// Returns what a communicator of `ranks` ranks does. `memory` counts only where it would vote.
Start StartOf(Origin origin, std::uint32_t ranks, GangMemory memory);

}  // namespace crossover::shrink::vote
