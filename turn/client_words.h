// Defines a turnstile's words as the arbiter reads them, and what they mean.
//
// `Memory` below is any type with
//   std::uint32_t Load(SlotIndex, Word);
//   bool SwapGate(SlotIndex, std::uint32_t expected, std::uint32_t desired);  // compare-and-swap of a gate
// Both operations are sequentially consistent. Only the arbiter's CPU swaps gates; clients and their GPUs
// load and store. The daemon's Memory is the shared page. The explorer's Memory yields at each access. The
// discrete-event harness uses a plain array.
#pragma once

#include <bit>
#include <cstdint>

#include "turn/ops.h"

namespace crossover::turn {

inline constexpr SlotIndex kMaxSlots = 15;  // CROSSOVER_MAX_CLIENTS; the page adapter asserts it
inline constexpr SlotIndex kNobody = 0xffffffffu;

// A SlotSet is a set of slots, with one bit per slot.
class SlotSet {
 public:
  constexpr SlotSet() = default;
  constexpr explicit SlotSet(std::uint32_t bits) : bits_(bits) {}
  constexpr bool Has(SlotIndex slot) const { return slot < kMaxSlots && (bits_ >> slot & 1u) != 0; }
  constexpr void Add(SlotIndex slot) { bits_ |= 1u << slot; }
  constexpr void Remove(SlotIndex slot) { bits_ &= ~(1u << slot); }
  constexpr int Count() const { return std::popcount(bits_); }
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(SlotSet, SlotSet) = default;

  // Iterates over the slots in ascending order: for (SlotIndex slot : set).
  struct Iterator {
    std::uint32_t rest;
    constexpr SlotIndex operator*() const { return static_cast<SlotIndex>(std::countr_zero(rest)); }
    constexpr Iterator& operator++() {
      rest &= rest - 1;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;
  };
  constexpr Iterator begin() const { return {bits_}; }
  constexpr Iterator end() const { return {0}; }

 private:
  std::uint32_t bits_ = 0;
};

// ClientWords holds the words of one client as one collect read them. A collect reads the four words one
// after the other, so they may never have had these values at the same instant. Values that no correct client
// writes count as neither idle, waiting nor holding. Their writer loses its place; other clients lose
// nothing.
struct ClientWords {
  std::uint32_t ready = 0;
  std::uint32_t hold = 0;
  std::uint32_t rel = 0;
  std::uint32_t gate = 0;

  // Returns the number that the gate must reach to let the client in.
  TurnNumber next() const { return waiting() ? ready : NextTurn(hold); }
  // Returns whether the client asks for no turn. At any instant rel <= hold <= ready, and ReadClient() reads
  // the words in that order. Three words that read as equal were therefore equal at the instant at which
  // `ready` was read. Words that a client changed between the reads count as neither idle, waiting nor
  // holding.
  bool idle() const { return rel == hold && hold == ready; }
  bool waiting() const { return rel == hold && Follows(ready, hold); }
  bool holding() const { return Follows(hold, rel); }
  // Returns whether the gate lets the client in. While the client holds the turn, next() is its next turn
  // and not its next stretch. `open` and `holding` together mean that the client is about to shut the gate,
  // or that there is a second token.
  bool open() const { return AtOrPast(gate, next()); }
  // Returns whether the client waits at a yield point, in the middle of its turn.
  bool yielded() const { return waiting() && ready != NextTurn(hold); }
  // Returns whether a token lies at the client's gate.
  bool parked() const { return open() && !holding(); }

  friend bool operator==(const ClientWords&, const ClientWords&) = default;

 private:
  static bool Follows(TurnNumber next, TurnNumber k) { return next == NextTurn(k) || next == NextStretch(k); }
};

// A Snapshot is the result of one collect. Only the entries of the members that were collected are valid.
struct Snapshot {
  ClientWords client[kMaxSlots];
};

template <class Memory>
ClientWords ReadClient(Memory& memory, SlotIndex slot) {
  ClientWords words;
  words.rel = memory.Load(slot, Word::kRel);
  words.hold = memory.Load(slot, Word::kHold);
  words.ready = memory.Load(slot, Word::kReady);
  words.gate = memory.Load(slot, Word::kGate);
  return words;
}

template <class Memory>
void Collect(Memory& memory, SlotSet members, Snapshot* out) {
  for (SlotIndex slot : members) out->client[slot] = ReadClient(memory, slot);
}

}  // namespace crossover::turn
