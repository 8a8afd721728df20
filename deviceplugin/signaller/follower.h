// Decides which clients of one turnstile to signal, and when to look at the page again.
//
// A Follower remembers only what it has signalled. So a signaller that starts over goes on where the last one
// stopped. It writes a signal repeatedly, less and less often, while the client stays at its open gate: a
// signal may have been lost, or another client may have erased it. Once a second it signals all slots,
// whatever their words say: any client writes the page, and must not keep a stream of another one from its
// gate. The words of a client that has gone stay as they were: its slot is signalled as well, but does not
// count as one where signals get lost, and if it was killed does not keep the signaller busy. A client that
// has released the turnstile may have streams that still wait there.
//
// Pure: reads no clock and does no I/O except through Memory. Allocates nothing. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/base/clock.h"
#include "turn/client_words.h"
#include "turn/policy.h"
#include "turn/signal.h"

namespace crossover::signaller {

// A look finds what no CPU announces: a client that has come, and a gate whose opener was killed before it
// wrote the signal.
inline constexpr turn::Time kLookPeriod = base::kNsPerMs;
// A follower looks so often at a page that has not changed for kActiveFor, on which no client waits and no
// token is parked. A client that comes there finds its signal once a CPU has opened its gate, which wakes the
// signaller, or a release has.
inline constexpr turn::Time kIdlePeriod = 20 * base::kNsPerMs;
inline constexpr turn::Time kActiveFor = 100 * base::kNsPerMs;
// A signal is written again after kLookPeriod. The pause then doubles each time, up to kLongestRepeat.
inline constexpr turn::Time kLongestRepeat = 64 * base::kNsPerMs;
// All slots are signalled so often. A signal that comes early makes a stream poll its gate, and nothing else.
inline constexpr turn::Time kAllPeriod = base::kNsPerSecond;

inline constexpr turn::SlotSet kAllSlots{(1u << turn::kMaxSlots) - 1};

// A Presence says which slots have clients, by the words of their liveness threads. A slot in neither set has
// none, or has one that has released the turnstile.
struct Presence {
  turn::SlotSet living = kAllSlots;
  turn::SlotSet killed{};
};

class Follower {
 public:
  // Reads the slots from `memory` (turn/client_words.h). Returns those whose signals must be written now.
  // REQUIRES: `now` does not go back; the caller writes the signals before it looks again.
  template <class Memory>
  turn::SlotSet Look(Memory& memory, turn::Time now, const Presence& presence = {}) {
    turn::SlotSet due;
    busy_ = false;
    again_ = 0;
    for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot) {
      const turn::GateView view = turn::ViewGate(memory, slot);
      if (!(view == slot_[slot].seen)) active_until_ = now + kActiveFor;
      if (Signals(&slot_[slot], view, now, presence.living.Has(slot))) due.Add(slot);
      const bool waits = slot_[slot].due || view.ready != view.hold;
      busy_ = busy_ || (waits && !presence.killed.Has(slot));
    }
    busy_ = busy_ || now < active_until_;
    return IsTimeForAll(now) ? kAllSlots : due;
  }

  // Returns whether the last look saw a client that waits, a token that is parked, or a page in use. A client
  // that was killed does not count.
  bool busy() const { return busy_; }
  // Returns how many signals of the last look had been written before, for a client that waits at its gate.
  // A token that is parked for an absent client is signalled again, too, and does not count.
  int again() const { return again_; }
  // Returns how long after the last look the next one is due, unless a gate's futex wakes before.
  turn::Time period() const { return busy_ ? kLookPeriod : kIdlePeriod; }
  // Returns the gate that the last look saw.
  std::uint32_t gate(turn::SlotIndex slot) const { return slot_[slot].seen.gate; }

 private:
  struct Slot {
    bool due = false;  // at the last look
    turn::GateView seen;
    turn::Time pause = 0;  // between the last signal and the next
    turn::Time again = 0;  // when the next signal is written
  };

  // Returns true once in each kAllPeriod, for the first time that long after the first look.
  bool IsTimeForAll(turn::Time now) {
    const bool first = all_at_ == turn::kNever;
    if (!first && now < all_at_) return false;
    all_at_ = now + kAllPeriod;
    return !first;
  }

  // Notes what `view` shows. Returns whether the slot is signalled now.
  bool Signals(Slot* slot, const turn::GateView& view, turn::Time now, bool lives) {
    const bool same = slot->due && slot->seen == view;
    slot->due = IsDue(view);
    slot->seen = view;
    if (!slot->due || (same && now < slot->again)) return false;
    slot->pause = same ? std::min(2 * slot->pause, kLongestRepeat) : kLookPeriod;
    slot->again = now + slot->pause;
    if (same && lives && view.ready != view.hold) ++again_;
    return true;
  }

  std::array<Slot, turn::kMaxSlots> slot_;
  bool busy_ = false;
  int again_ = 0;
  turn::Time active_until_ = 0;
  turn::Time all_at_ = turn::kNever;  // when all slots are signalled next
};

}  // namespace crossover::signaller
