// Defines a state of the explorer: the words, the clients, and how far the arbiter's pass and the signaller's
// look have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/unit/turn/explorer.h"
#include "turn/token.h"

namespace crossover::turn::test {

inline constexpr int kMaxClients = 3;
inline constexpr int kMaxAccesses = 32;

struct Client {
  enum class Phase : std::uint8_t {
    kAcquire,
    kTurn,  // the next operation is the first of a yield point or of the release
    kRelease,
    kYield
  };
  Phase phase = Phase::kAcquire;
  std::uint8_t step = 0;  // the next operation of the phase's list
  std::uint8_t turn = 1;
  std::uint8_t yields = 0;  // in this turn
  std::uint8_t successor = 0;
  bool alive = true;
  bool late = false;  // dead, and its next write is still in flight
  std::uint32_t open = 0;
};

// Writes to signal words that have not landed yet, at most one for each word.
enum class Flight : std::uint8_t { kNone, kRest, kCome };

// The accesses that a pass has made so far, and what they returned.
template <int kMost>
struct Replay {
  std::uint8_t accesses = 0;
  std::uint32_t read[kMost] = {};
};

// A Look is the signaller's look at one slot. It has read some words, or it is about to write the signal.
struct Look {
  enum class State : std::uint8_t { kRests, kReads, kWrites };
  static constexpr int kReadsOfASlot = 3;
  State state = State::kRests;
  std::uint8_t slot = 0;
  Replay<kReadsOfASlot + 1> replay;
};

struct World {
  std::uint32_t word[kMaxClients][4] = {};
  bool gates_copied = false;             // bad_gate_copy: clients wait at copies of their gates
  std::uint32_t copy[kMaxClients] = {};  // with gates_copied
  Client client[kMaxClients];
  // The fields down to `replay` describe the arbiter's pass: its state at the beginning, its choice, and its
  // accesses so far.
  Token token;
  std::uint8_t members = 0;
  std::uint8_t want = 0;  // a slot, or options.clients for no slot
  bool preempts = false;  // the pass ends with an attempt to preempt the holder
  bool in_pass = false;
  Replay<kMaxAccesses> replay;
  std::uint8_t kills = 0;
  std::uint8_t suspended = 0;    // slots that the watchdog took out of the members
  std::uint8_t suspensions = 0;  // so far
  bool excused = false;          // a suspension, a late write, or no arbiter: overlap is then possible
  bool arbiter_dead = false;
  bool gates_gone = false;  // the memory of the gates was freed by the client that exported it

  // Without `signals_kept` the signal words have no values: a wait for a signal may end at any time.
  bool signals_kept = false;
  std::uint8_t come = 0;     // the slots whose signal words say that they may come
  bool wakes_noted = false;  // the signaller is one that wakes when a CPU opens a gate
  std::uint8_t woken = 0;    // with wakes_noted: the gates that it has not signalled since
  Flight flight[kMaxClients][kMaxClients] = {};  // by writer, then by slot
  Look look;
};

// Notes that a CPU has opened the gate of `slot`.
inline void NoteWake(World* world, SlotIndex slot) {
  if (world->wakes_noted) world->woken = static_cast<std::uint8_t>(world->woken | 1u << slot);
}

struct Pause {};

// A ReplayMemory returns to a pass what its accesses returned before. It then executes one more access, and
// pauses the pass by throwing Pause.
template <int kMost>
class ReplayMemory {
 public:
  ReplayMemory(World* world, Replay<kMost>* replay) : world_(world), replay_(replay) {}
  std::uint32_t Load(SlotIndex slot, Word word) {
    if (position_ < replay_->accesses) return replay_->read[position_++];
    Execute(world_->word[slot][static_cast<int>(word)]);
    throw Pause{};
  }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    if (position_ < replay_->accesses) return replay_->read[position_++] != 0;
    std::uint32_t& gate = world_->word[slot][static_cast<int>(Word::kGate)];
    const bool swapped = gate == expected && !world_->gates_gone;
    if (swapped) gate = desired;
    if (swapped && AtOrPast(desired, expected)) {
      if (world_->gates_copied) world_->copy[slot] = desired;
      NoteWake(world_, slot);
    }
    Execute(swapped);
    throw Pause{};
  }
  // Stores without a comparison, as a known-bad arbiter would. Pauses like any other access.
  bool StoreGate(SlotIndex slot, std::uint32_t value) {
    if (position_ < replay_->accesses) return replay_->read[position_++] != 0;
    world_->word[slot][static_cast<int>(Word::kGate)] = value;
    Execute(1);
    throw Pause{};
  }

 private:
  void Execute(std::uint32_t result) {
    replay_->read[position_++] = result;
    replay_->accesses = position_;
    if (position_ >= kMost) std::abort();
  }
  World* world_;
  Replay<kMost>* replay_;
  std::uint8_t position_ = 0;
};

inline ClientWords WordsOf(const World& world, SlotIndex i) {
  return {world.word[i][0], world.word[i][1], world.word[i][2], world.word[i][3]};
}

struct Hash128 {
  std::uint64_t a, b;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash128& h) const { return h.a; }
};

// Returns a hash that two worlds of `clients` clients share only if they are equal, for all that matters.
Hash128 HashOf(const World& world, SlotIndex clients);

}  // namespace crossover::turn::test
