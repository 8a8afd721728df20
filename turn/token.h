// The token of one GPU: who has the turn, kept to exactly one by the arbiter.
//
// The token is wherever the words say: *held* by a client inside its turn, *parked* at an open gate whose
// owner has not come yet, or in the arbiter's *pocket*. Holders pass it to each other without the arbiter
// (turn/ops.h), by stores alone: stream memory operations have no compare-and-swap. What is left to the
// arbiter, whose CPU has one, is to move a parked token, to replace a lost one and to swallow a surplus one:
//
//   move     swap the gate from what was seen to shut, then read `ready` (Dekker: the client writes `ready`,
//            then reads the gate). Not ready: it will find the gate shut, the token is ours. Ready: swap the
//            old value back, as if nothing had happened; if it has passed already, it shuts the gate itself.
//   replace  two equal collects in a row without a token: counters only grow, and a holder opens the next
//            gate before it writes `rel` and writes `hold` before it shuts its own, so there was none.
//   swallow  more than one in two steps in a row (a hand-over shows two for an instant): take back one that
//            nobody waits for, also from the open gate of a holder, in the same way as for a move.
//   preempt  shut the gate that a holder has left open for its own yield points, in the same way: it goes
//            on to the next of them and waits there, without a token, which is then replaced.
//
// A gate is never changed but from the very value seen: to shut the gate of a client that has just passed
// it, and has not said so yet, would hide its token. What fails is tried again at the next step.
//
// Correct for whatever `want` the policy asks: the explorer asks for everything in every order.
// Trivially copyable; not thread-safe; no clock, no allocation.
#pragma once

#include <cstdint>

#include "turn/words.h"

namespace crossover::turn {

class Token {
 public:
  // What one Step did, for counters and events.
  struct Report {
    SlotIndex granted = kNobody;  // its gate was opened by the arbiter
    SlotIndex revoked = kNobody;  // a parked token was taken back from it
    bool minted = false;          // a lost token was replaced
    bool swallowed = false;       // a surplus token was taken out
  };

  // Where the token of this snapshot is, for the policy: the holder, else where it is parked, else kNobody.
  struct Place {
    SlotIndex holder = kNobody;
    SlotIndex parked = kNobody;
    int visible = 0;  // held and parked ones, and those at the open gate of a holder
  };
  static Place Find(const Snapshot& seen, SlotSet members);

  // Brings the number of tokens among `members` to one, and a token that nobody uses to `want` (kNobody:
  // leave it where it is). `seen` is the collect on which `want` was chosen.
  template <class Memory>
  Report Step(Memory& memory, SlotSet members, const Snapshot& seen, SlotIndex want);

  // Takes from the holder the right to go on past its next yield point; it then waits like anybody else, and
  // its token counts as lost. False: it may have passed that point already, or gives its turn back instead.
  template <class Memory>
  static bool Preempt(Memory& memory, SlotIndex slot, const ClientWords& seen) {
    return seen.holding() && seen.gate == LastStretch(seen.hold) && Revoke(memory, slot, seen);
  }
  // Whether that has been done to this holder.
  static bool Preempted(const ClientWords& seen) { return seen.holding() && seen.gate == seen.hold - 1; }

  bool in_pocket() const { return pocket_; }

 private:
  template <class Memory>
  static bool Open(Memory& memory, SlotIndex slot, const ClientWords& words) {
    return memory.SwapGate(slot, words.gate, words.next());
  }
  template <class Memory>
  static bool Revoke(Memory& memory, SlotIndex slot, const ClientWords& words);
  template <class Memory>
  void Swallow(Memory& memory, SlotSet members, const Snapshot& seen, Report* report);

  bool pocket_ = false;
  bool surplus_ = false;  // the last step saw more than one
};

inline Token::Place Token::Find(const Snapshot& seen, SlotSet members) {
  Place place;
  for (SlotIndex slot : members) {
    const ClientWords& words = seen.client[slot];
    if (words.holding()) {
      if (place.holder == kNobody) place.holder = slot;
      place.visible += words.open() ? 2 : 1;
    } else if (words.open()) {
      // A waiting client at an open gate is on its way in: it cannot be moved, so it is named first.
      if (place.parked == kNobody || words.waiting()) place.parked = slot;
      ++place.visible;
    }
  }
  return place;
}

template <class Memory>
bool Token::Revoke(Memory& memory, SlotIndex slot, const ClientWords& words) {
  // Neither a client on its way in, nor a torn read.
  if (!words.idle() && !(words.holding() && words.ready == words.hold)) return false;
  // Shut, and unlike the value with which the client shuts it: else the way back could undo that.
  const std::uint32_t shut = words.hold - 1;
  if (!memory.SwapGate(slot, words.gate, shut)) return false;
  if (memory.Load(slot, Word::kReady) == words.hold) return true;
  memory.SwapGate(slot, shut, words.gate);
  return false;
}

template <class Memory>
void Token::Swallow(Memory& memory, SlotSet members, const Snapshot& seen, Report* report) {
  if (pocket_) {
    pocket_ = false;
    report->swallowed = true;
    return;
  }
  for (SlotIndex slot : members) {
    const ClientWords& words = seen.client[slot];
    if (!words.open() || !Revoke(memory, slot, words)) continue;
    if (words.idle()) report->revoked = slot;
    report->swallowed = true;
    return;
  }
}

template <class Memory>
Token::Report Token::Step(Memory& memory, SlotSet members, const Snapshot& seen, SlotIndex want) {
  Report report;
  const Place place = Find(seen, members);
  const int tokens = place.visible + (pocket_ ? 1 : 0);

  if (tokens > 1) {
    if (surplus_) Swallow(memory, members, seen, &report);
    surplus_ = !surplus_;
    return report;
  }
  surplus_ = false;
  if (tokens == 0) {
    for (SlotIndex slot : members) {
      if (!(ReadClient(memory, slot) == seen.client[slot])) return report;
    }
    if (members.Count() == 0) return report;
    pocket_ = true;
    report.minted = true;
  }
  if (!pocket_ && members.Has(want) && place.parked != kNobody && place.parked != want) {
    if (Revoke(memory, place.parked, seen.client[place.parked])) {
      pocket_ = true;
      report.revoked = place.parked;
    }
  }
  if (pocket_ && members.Has(want) && Open(memory, want, seen.client[want])) {
    pocket_ = false;
    report.granted = want;
  }
  return report;
}

}  // namespace crossover::turn
