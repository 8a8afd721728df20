// Defines the memory operations of a client that waits for a signal before it waits for its gate.
//
// Beside its gate each slot has a signal word in device memory. A stream that waits there polls its own GPU's
// memory, and not the page across the bus. The page alone decides who has the turn: each list below has the
// operations of turn/ops.h on the page, in their order, and other operations only on signal words. So a
// signal that is early, late, lost or forged costs time, and never lets a second client in.
//
//     ready = k;  wait signal;  wait gate >= k;  hold = k;  signal = rest;  gate = end of k
//     ...
//     gate[successor] = open;  signal[successor] = come;  rel = k
//
// A client that has passed resets its signal before it shuts its gate. If an opening falls before the reset,
// the client shuts that gate too, and the arbiter sees a lost token. In the other order the reset could erase
// the signal of an opening that stays, which no word of the page shows.
//
// A CPU that opens a gate writes no signal. The signaller follows the page for that (IsDue): it signals each
// slot whose gate lets its client in. It also finds a gate whose opener was killed before it wrote the
// signal.
//
// The functions are pure, allocate nothing and may be called from any thread.
#pragma once

#include <array>
#include <cstdint>

#include "common/base/clock.h"
#include "turn/ops.h"

namespace crossover::turn {

// A signal word has one of these values. A stream waits until its word is at or past kSignalCome
// (AtOrPast()).
inline constexpr std::uint32_t kSignalRest = 0;
inline constexpr std::uint32_t kSignalCome = 1;

// The signaller changes crossover_page::signaller_beat every 20 ms or more often. A beat that has not changed
// for this long stands still.
inline constexpr std::int64_t kBeatStandsStillNs = 200 * base::kNsPerMs;

// A SignalledOp is an operation on a word of the page, or on the signal word of `op.slot`. `op.word` has no
// meaning in an operation on a signal word.
struct SignalledOp {
  enum class Target : std::uint8_t { kPage, kSignal };
  Target target;
  Op op;
};

constexpr SignalledOp OnPage(const Op& op) { return {SignalledOp::Target::kPage, op}; }
constexpr SignalledOp OnSignal(Op::Kind kind, SlotIndex slot, std::uint32_t value) {
  return {SignalledOp::Target::kSignal, {kind, Word::kGate, slot, value}};
}

// REQUIRES of a transport that executes the lists below: what turn/ops.h requires for the words of the page.
// Nothing is required of the order between a word of the page and a signal word.

// Returns the operations that take turn `k` of slot `self` (see Acquire()).
constexpr std::array<SignalledOp, 6> AcquireBySignal(SlotIndex self, TurnNumber k) {
  const auto page = Acquire(self, k);
  return {OnPage(page[0]), OnSignal(Op::Kind::kWaitGeq, self, kSignalCome), OnPage(page[1]),
          OnPage(page[2]), OnSignal(Op::Kind::kWrite, self, kSignalRest),   OnPage(page[3])};
}

// Returns the operations of a yield point (see Yield()). The gate is open at most yield points, so the stream
// asks it at once. The reset erases the signal of a client that handed over to this one at its yield point.
constexpr std::array<SignalledOp, 6> YieldBySignal(SlotIndex self, TurnNumber k) {
  const auto page = Yield(self, k);
  return {OnPage(page[0]),
          OnPage(page[1]),
          OnPage(page[2]),
          OnPage(page[3]),
          OnSignal(Op::Kind::kWrite, self, kSignalRest),
          OnPage(page[4])};
}

// Returns the operations that give turn `k` of slot `self` back and let `successor` in (see Release()).
constexpr std::array<SignalledOp, 3> ReleaseBySignal(SlotIndex self, TurnNumber k, SlotIndex successor,
                                                     std::uint32_t open) {
  const auto page = Release(self, k, successor, open);
  return {OnPage(page[0]), OnSignal(Op::Kind::kWrite, successor, kSignalCome), OnPage(page[1])};
}

// A GateView holds the words of one slot that decide whether its client needs a signal. They are read one
// after the other, and any client may have written any value. A view that is torn or forged costs a signal
// that comes too early, or that the next look writes.
struct GateView {
  TurnNumber ready = 0;
  TurnNumber hold = 0;
  std::uint32_t gate = 0;

  friend constexpr bool operator==(const GateView&, const GateView&) = default;
};

// Reads the view of `slot` from any `memory` of turn/client_words.h.
template <class Memory>
GateView ViewGate(Memory& memory, SlotIndex slot) {
  return {memory.Load(slot, Word::kReady), memory.Load(slot, Word::kHold), memory.Load(slot, Word::kGate)};
}

// Returns whether the gate lets the slot's client in: the stretch that it asks for, or its next turn if it
// asks for none. A token that is parked for an absent client counts, so that the client finds its signal when
// it comes.
constexpr bool IsDue(const GateView& view) {
  return AtOrPast(view.gate, view.ready == view.hold ? NextTurn(view.hold) : view.ready);
}

}  // namespace crossover::turn
