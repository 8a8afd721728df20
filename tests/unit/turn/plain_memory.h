// Keeps a turnstile's words in a plain array, and executes the shipped operations of its clients on them.
// Clients name turns 1, 2, 3, ...; a turn is one stretch, and each Yield() begins another one.
#pragma once

#include <array>
#include <cstdint>

#include "turn/client_words.h"

namespace crossover::turn::test {

class PlainMemory {
 public:
  std::uint32_t Load(SlotIndex slot, Word word) const { return word_[slot][static_cast<int>(word)]; }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    if (Load(slot, Word::kGate) != expected) return false;
    Set(slot, Word::kGate, desired);
    return true;
  }
  void Set(SlotIndex slot, Word word, std::uint32_t value) { word_[slot][static_cast<int>(word)] = value; }
  // Executes an operation. REQUIRES: it writes.
  void Do(const Op& op) { Set(op.slot, op.word, op.value); }

  void Ask(SlotIndex slot, std::uint32_t turn) { Do(Acquire(slot, FirstStretch(turn))[0]); }
  // Takes the turn if the gate is open for it. Returns whether it was.
  bool Enter(SlotIndex slot, std::uint32_t turn) { return Pass(slot, Acquire(slot, FirstStretch(turn))); }
  void Leave(SlotIndex slot, SlotIndex successor) {
    const TurnNumber k = Load(slot, Word::kHold);
    const std::uint32_t open = OpenFor(slot, k, successor, Load(successor, Word::kReady));
    for (const Op& op : Release(slot, k, successor, open)) Do(op);
  }
  // Comes to a yield point. Returns whether the gate lets the client go on at once.
  bool Yield(SlotIndex slot) {
    const auto ops = turn::Yield(slot, Load(slot, Word::kHold));
    Do(ops[0]);
    Do(ops[1]);
    return Pass(slot, std::array{ops[0], ops[2], ops[3], ops[4]});
  }
  // Goes on past the yield point if the client waits. Returns false if the gate is shut.
  bool GoOn(SlotIndex slot) {
    const auto ops = turn::Yield(slot, Load(slot, Word::kHold));
    return Pass(slot, std::array{ops[0], ops[2], ops[3], ops[4]});
  }

 private:
  // Passes the gate if it is open. `ops` are the request, the wait, and the two operations that follow it.
  bool Pass(SlotIndex slot, const std::array<Op, 4>& ops) {
    if (!AtOrPast(Load(slot, Word::kGate), ops[1].value)) return false;
    Do(ops[2]);
    Do(ops[3]);
    return true;
  }
  std::uint32_t word_[kMaxSlots][4] = {};
};

}  // namespace crossover::turn::test
