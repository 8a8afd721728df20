// The words of a turnstile as the arbiter reads them, and what they mean.
//
// `Memory` below is any type with
//   std::uint32_t Load(SlotIndex, Word);
//   bool SwapGate(SlotIndex, std::uint32_t expected, std::uint32_t desired);  // compare-and-swap of a gate
// both sequentially consistent. Only the arbiter's CPU swaps; clients and their GPUs load and store. The
// daemon's is the shared page, the explorer's yields at each access, the discrete-event harness's is a plain
// array.
#pragma once

#include <bit>
#include <cstdint>

#include "turn/ops.h"

namespace crossover::turn {

inline constexpr SlotIndex kMaxSlots = 15;  // CROSSOVER_MAX_CLIENTS; the page adapter asserts it
inline constexpr SlotIndex kNobody = 0xffffffffu;

// A set of slots, one bit each.
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

  // for (SlotIndex slot : set)
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

// One client as one collect saw it. The four words are read one after the other, so they need not have held
// at the same instant. Values that no honest client writes are neither idle, waiting nor holding: they cost
// their writer its place, nobody else anything.
struct ClientWords {
  std::uint32_t ready = 0;
  std::uint32_t hold = 0;
  std::uint32_t rel = 0;
  std::uint32_t gate = 0;

  // What its gate has to reach to let it in.
  TurnNumber next() const { return waiting() ? ready : NextTurn(hold); }
  // rel <= hold <= ready at any instant and they are read in that order: three equal ones were so when
  // `ready` was read. A read torn by a moving client is none of the three.
  bool idle() const { return rel == hold && hold == ready; }
  bool waiting() const { return rel == hold && Follows(ready, hold); }
  bool holding() const { return Follows(hold, rel); }
  // Its gate lets it in. Beside `holding`, where the next turn is meant and not the next stretch, this is the
  // instant before it shuts the gate, or the mark of a second token.
  bool open() const { return AtOrPast(gate, next()); }
  // It waits in the middle of its turn, at a yield point.
  bool yielded() const { return waiting() && ready != NextTurn(hold); }
  bool parked() const { return open() && !holding(); }

  friend bool operator==(const ClientWords&, const ClientWords&) = default;

 private:
  static bool Follows(TurnNumber next, TurnNumber k) { return next == NextTurn(k) || next == NextStretch(k); }
};

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
