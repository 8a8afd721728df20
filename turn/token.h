// Keeps the number of tokens of one GPU at exactly one. The client with the token has the turn.
//
// The words show where the token is: *held* by a client inside its turn, or *parked* at an open gate whose
// owner has not come yet. Otherwise it is in the arbiter's *pocket*: the arbiter has taken it, and no word
// shows it. Clients pass the token to each other without the arbiter (turn/ops.h), by stores alone: stream
// memory operations have no compare-and-swap. The arbiter's CPU has compare-and-swap. The arbiter moves a
// parked token, replaces a lost one and removes a surplus one:
//
//        hand over: a holder opens the gate of its successor
//       +----------------------------------------------------+
//       v                                                    |
//     parked  ------- the gate's owner takes its turn ----> held
//     (open gate)                                        (hold after rel)
//       |   ^                                                |
//  move |   | grant                      the holder dies, or is suspended,
//       v   |                            or waits without a token at a yield point
//     pocket  <------- replace ---------- lost  <------------+
//     (the arbiter)                      (no word shows it)
//
//   move     Swap the gate from the value seen to shut, then read `ready`. (Dekker: the client writes
//            `ready`, then reads the gate.) If the client is not ready, it will find the gate shut: the
//            arbiter has the token. If it is ready, swap the old value back. If it has passed the gate
//            already, it shuts the gate itself.
//   replace  Two equal collects in a row show no token. Counters only grow, a holder opens the next gate
//            before it writes `rel`, and it writes `hold` before it shuts its own gate. So there was no
//            token, and the arbiter makes a new one in its pocket.
//   swallow  Two steps in a row show more than one token (a hand-over shows two for an instant). Take one
//            back that no client waits for, as for a move. The open gate of a holder counts as such a place.
//   preempt  Shut the gate that a holder has left open for its own yield points, as for a move. The holder
//            goes on to its next yield point and waits there without a token, which is then replaced.
//
// The arbiter changes a gate only from the exact value that it saw. A client may have passed its gate and not
// have written `hold` yet: to shut that gate would hide its token. If a swap fails, the next step tries
// again.
//
// The class is correct for any `want` that the policy chooses: the explorer in the tests tries all of them,
// in every order. It is trivially copyable and not thread-safe. It reads no clock and allocates nothing.
#pragma once

#include <cstdint>

#include "turn/client_words.h"

namespace crossover::turn {

class Token {
 public:
  // A Report lists the effects of one Step(), for counters and events.
  struct Report {
    SlotIndex granted = kNobody;  // the arbiter opened this client's gate
    SlotIndex revoked = kNobody;  // the arbiter took a parked token back from this client
    bool minted = false;          // the arbiter replaced a lost token
    bool swallowed = false;       // the arbiter removed a surplus token
  };

  // A Place says where a snapshot shows the token, for the policy.
  struct Place {
    SlotIndex holder = kNobody;
    SlotIndex parked = kNobody;
    int visible = 0;  // tokens that are held, parked, or at the open gate of a holder
  };
  // Finds the token in `seen`. Names a waiting client at an open gate before other clients with an open
  // gate.
  static Place Find(const Snapshot& seen, SlotSet members);

  // Brings the number of tokens among `members` to one. Moves a token that no client uses to `want`, or
  // leaves it in place if `want` is kNobody. `seen` is the collect from which `want` was chosen.
  template <class Memory>
  Report Step(Memory& memory, SlotSet members, const Snapshot& seen, SlotIndex want);

  // Takes from the holder the right to continue past its next yield point. The holder then waits there like
  // any other client, and its token counts as lost. Returns false if it did not succeed: the holder may
  // have passed that point already, or it gives its turn back instead.
  template <class Memory>
  static bool Preempt(Memory& memory, SlotIndex slot, const ClientWords& seen) {
    return seen.holding() && seen.gate == LastStretch(seen.hold) && Revoke(memory, slot, seen);
  }
  // Returns whether `seen` shows a holder for which Preempt() has succeeded.
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
  bool surplus_ = false;  // the last step saw more than one token
};

inline Token::Place Token::Find(const Snapshot& seen, SlotSet members) {
  Place place;
  for (SlotIndex slot : members) {
    const ClientWords& words = seen.client[slot];
    if (words.holding()) {
      if (place.holder == kNobody) place.holder = slot;
      place.visible += words.open() ? 2 : 1;
    } else if (words.open()) {
      // A waiting client at an open gate is about to enter. Its token cannot be moved, so it is named
      // first.
      if (place.parked == kNobody || words.waiting()) place.parked = slot;
      ++place.visible;
    }
  }
  return place;
}

template <class Memory>
bool Token::Revoke(Memory& memory, SlotIndex slot, const ClientWords& words) {
  // In any other state the client is about to enter, or the words are torn.
  if (!words.idle() && !(words.holding() && words.ready == words.hold)) return false;
  // `shut` shuts the gate. The value differs from the value with which the client shuts it: otherwise the
  // swap back could undo the client's store.
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
