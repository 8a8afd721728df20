// A turnstile's words in a plain array, and clients that execute the shipped operations on it.
#pragma once

#include <cstdint>

#include "turn/words.h"

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

  void Ask(SlotIndex slot, TurnNumber k) { Do(Acquire(slot, k)[0]); }
  // Passes the gate if it is open for turn `k`, and takes the turn.
  bool Enter(SlotIndex slot, TurnNumber k) {
    if (!AtOrPast(Load(slot, Word::kGate), k)) return false;
    Do(Acquire(slot, k)[2]);
    Do(Acquire(slot, k)[3]);
    return true;
  }
  void Leave(SlotIndex slot, TurnNumber k, SlotIndex successor) {
    const std::uint32_t open = OpenFor(slot, k, successor, Load(successor, Word::kReady));
    for (const Op& op : Release(slot, k, successor, open)) Do(op);
  }

 private:
  void Do(const Op& op) { Set(op.slot, op.word, op.value); }
  std::uint32_t word_[kMaxSlots][4] = {};
};

}  // namespace crossover::turn::test
