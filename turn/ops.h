// What a client does to take a turn and to give it back, as memory operations.
//
// These lists are the whole client side of the protocol. The sidecar turns them into one
// cuStreamBatchMemOp each (GPU gates) or executes them on the host (host gates); the explorer executes the
// same lists one operation at a time, in every order. Pure and allocation-free.
#pragma once

#include <array>
#include <cstdint>

namespace crossover::turn {

using SlotIndex = std::uint32_t;

// A turn is one or more *stretches*, with yield points between them. The number counts both, per client: the
// turn above kStretchBits, its stretch below. Turns go 1, 2, 3, ... and wrap.
using TurnNumber = std::uint32_t;
inline constexpr int kStretchBits = 10;
inline constexpr std::uint32_t kStretchMask = (1u << kStretchBits) - 1;

constexpr std::uint32_t TurnOf(TurnNumber k) { return k >> kStretchBits; }
constexpr TurnNumber FirstStretch(std::uint32_t turn) { return turn << kStretchBits; }
constexpr TurnNumber NextTurn(TurnNumber k) { return (k | kStretchMask) + 1; }
// No stretch has this number: a gate that stands there lets all stretches of the turn pass, and not the next
// turn.
constexpr TurnNumber LastStretch(TurnNumber k) { return k | kStretchMask; }
// The stretch behind the yield point that ends stretch `k`. A turn with more of them goes on as the next
// turn.
constexpr TurnNumber NextStretch(TurnNumber k) {
  return (k & kStretchMask) + 1 < kStretchMask ? k + 1 : NextTurn(k);
}

// Turns of one iteration; jobs with more do not take turns.
inline constexpr std::uint32_t kMaxTurns = 4;

// Turns of an iteration, given what a client says: 1 to kMaxTurns, anything else counts as 1.
constexpr std::uint32_t TurnsOf(std::uint32_t said) { return said < 1 || said > kMaxTurns ? 1 : said; }

// Where turn `k` stands in an iteration of so many turns, for the arbiter as for the client.
constexpr std::uint32_t PositionOf(TurnNumber k, std::uint32_t turns) { return TurnOf(k) % turns; }

enum class Word : std::uint8_t { kReady, kHold, kRel, kGate };

struct Op {
  enum class Kind : std::uint8_t { kWrite, kWaitGeq };
  Kind kind;
  Word word;
  SlotIndex slot;
  std::uint32_t value;
};

// Cyclic order: `a` is at or past `b`. The same rule as CU_STREAM_WAIT_VALUE_GEQ.
constexpr bool AtOrPast(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

// A value that opens a gate for whatever turn its owner asks for next, given roughly where that owner is.
// For whoever opens a gate in need; a client that hands over uses OpenFor.
constexpr std::uint32_t OpenAny(TurnNumber about) { return about + (1u << 30); }

// The value with which turn `k` of slot `self` opens `successor`'s gate. It is baked when the release is
// enqueued, when nobody knows which turn the successor will ask for, only its `ready` word of that moment:
// so it opens any turn near. It also carries who wrote it and when, so that no two openings look alike: the
// arbiter takes a token back by compare-and-swap on what it saw.
constexpr std::uint32_t OpenFor(SlotIndex self, TurnNumber k, SlotIndex successor,
                                std::uint32_t successor_ready) {
  if (successor == self) return NextTurn(k);
  constexpr std::uint32_t kTag = 0xfff;
  return (OpenAny(successor_ready) & ~kTag) | ((self << 8 | (TurnOf(k) & 0xff)) & kTag);
}

// Take turn `k` of slot `self`. At no instant is the token in neither of two words: a gate at `k` reads as
// open until `hold` is `k` too. That is what lets the arbiter see that a token is lost. The gate is left open
// for the turn's other stretches: whoever has the turn keeps it at its yield points, unless the arbiter shuts
// the gate.
constexpr std::array<Op, 4> Acquire(SlotIndex self, TurnNumber k) {
  return {{{Op::Kind::kWrite, Word::kReady, self, k},
           {Op::Kind::kWaitGeq, Word::kGate, self, k},
           {Op::Kind::kWrite, Word::kHold, self, k},
           {Op::Kind::kWrite, Word::kGate, self, LastStretch(k)}}};
}

// A yield point: stretch `k` ends, the next begins as soon as the gate lets it. `ready` comes first: until
// `rel` is written the token is seen as held, and from then on at the open gate.
constexpr std::array<Op, 5> Yield(SlotIndex self, TurnNumber k) {
  const TurnNumber next = NextStretch(k);
  return {{{Op::Kind::kWrite, Word::kReady, self, next},
           {Op::Kind::kWrite, Word::kRel, self, k},
           {Op::Kind::kWaitGeq, Word::kGate, self, next},
           {Op::Kind::kWrite, Word::kHold, self, next},
           {Op::Kind::kWrite, Word::kGate, self, LastStretch(next)}}};
}

// Give turn `k` of slot `self` back by opening `successor`'s gate with `open`, see OpenFor. The gate comes
// first: it is what the next client waits for, and the token must not be nowhere.
constexpr std::array<Op, 2> Release(SlotIndex self, TurnNumber k, SlotIndex successor, std::uint32_t open) {
  return {{{Op::Kind::kWrite, Word::kGate, successor, open}, {Op::Kind::kWrite, Word::kRel, self, k}}};
}

}  // namespace crossover::turn
