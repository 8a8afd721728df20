// Defines the memory operations by which a client takes a turn and gives it back.
//
// These lists are the whole client side of the protocol. The sidecar turns each list into one
// cuStreamBatchMemOp (GPU gates) or executes it on the host (host gates). The explorer in the tests executes
// the same lists one operation at a time, in every order.
//
// The functions are pure, allocate nothing and may be called from any thread.
#pragma once

#include <array>
#include <cstdint>

namespace crossover::turn {

using SlotIndex = std::uint32_t;

// A turn is one or more *stretches*, with yield points between them. The number of a client counts both:
// the turn in the bits above kStretchBits, the stretch in the bits below. Turns count 1, 2, 3, ... and
// wrap.
using TurnNumber = std::uint32_t;
inline constexpr int kStretchBits = 10;
inline constexpr std::uint32_t kStretchMask = (1u << kStretchBits) - 1;

constexpr std::uint32_t TurnOf(TurnNumber k) { return k >> kStretchBits; }
constexpr TurnNumber FirstStretch(std::uint32_t turn) { return turn << kStretchBits; }
constexpr TurnNumber NextTurn(TurnNumber k) { return (k | kStretchMask) + 1; }
// Returns a number that no stretch has. A gate with this value lets all stretches of the turn pass, and not
// the next turn.
constexpr TurnNumber LastStretch(TurnNumber k) { return k | kStretchMask; }
// Returns the number of the stretch after the yield point that ends stretch `k`. A turn with more stretches
// than fit goes on as the next turn.
constexpr TurnNumber NextStretch(TurnNumber k) {
  return (k & kStretchMask) + 1 < kStretchMask ? k + 1 : NextTurn(k);
}

// An iteration has at most this many positions. If it has more turns, all of them have position 0.
inline constexpr std::uint32_t kMaxTurns = 4;

// Returns the turns per iteration from the value that a client reports. A value outside 1 to kMaxTurns
// counts as 1.
constexpr std::uint32_t TurnsOf(std::uint32_t said) { return said < 1 || said > kMaxTurns ? 1 : said; }

// Returns the position of turn `k` in an iteration of `turns` turns. The arbiter and the client compute it in
// the same way.
constexpr std::uint32_t PositionOf(TurnNumber k, std::uint32_t turns) { return TurnOf(k) % turns; }

enum class Word : std::uint8_t { kReady, kHold, kRel, kGate };

struct Op {
  enum class Kind : std::uint8_t { kWrite, kWaitGeq };
  Kind kind;
  Word word;
  SlotIndex slot;
  std::uint32_t value;
};

// Returns whether `a` is at or past `b` in cyclic order. CU_STREAM_WAIT_VALUE_GEQ uses the same rule.
constexpr bool AtOrPast(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

// Returns a value that opens a gate for any turn that its owner may ask for next. `about` is roughly the
// owner's present number. The arbiter opens gates of clients without turns with it. A client opens its own
// gate with it when no other process does. A client that hands over uses OpenFor().
constexpr std::uint32_t OpenAny(TurnNumber about) { return about + (1u << 30); }

// Returns the value with which turn `k` of slot `self` opens `successor`'s gate. The value is fixed when the
// release is enqueued. At that time only the successor's present `ready` word is known, not the turn that it
// will ask for, so the value opens the gate for any turn near that word. A client that keeps the token opens
// its own gate for its next turn alone.
//
// The value also encodes the writer and the low 8 bits of its turn, so that two recent openings of a gate are
// never equal. The arbiter relies on this: it takes a token back by compare-and-swap on the value that it
// saw.
constexpr std::uint32_t OpenFor(SlotIndex self, TurnNumber k, SlotIndex successor,
                                std::uint32_t successor_ready) {
  if (successor == self) return NextTurn(k);
  constexpr std::uint32_t kTag = 0xfff;
  return (OpenAny(successor_ready) & ~kTag) | ((self << 8 | (TurnOf(k) & 0xff)) & kTag);
}

// REQUIRES of a transport that executes the lists below: other processes see the writes of a list in its
// order, and each wait reads its word only after all writes before it are visible. The transport therefore
// puts a full barrier before each wait: a GPU is documented to write in order, but not to read after its own
// writes.

// Returns the operations that take turn `k` of slot `self`. At every instant the token is visible in at
// least one of two words: a gate at `k` reads as open until `hold` is `k` too. The arbiter can therefore
// see that a token is lost. The last operation leaves the gate open for the turn's other stretches: the
// client keeps the turn at its yield points, unless the arbiter shuts the gate.
constexpr std::array<Op, 4> Acquire(SlotIndex self, TurnNumber k) {
  return {{{Op::Kind::kWrite, Word::kReady, self, k},
           {Op::Kind::kWaitGeq, Word::kGate, self, k},
           {Op::Kind::kWrite, Word::kHold, self, k},
           {Op::Kind::kWrite, Word::kGate, self, LastStretch(k)}}};
}

// Returns the operations of a yield point: stretch `k` ends, and the next one begins as soon as the gate lets
// it. The client writes `ready` first. Until it writes `rel`, readers see the token as held; from then on
// they see it at the open gate.
constexpr std::array<Op, 5> Yield(SlotIndex self, TurnNumber k) {
  const TurnNumber next = NextStretch(k);
  return {{{Op::Kind::kWrite, Word::kReady, self, next},
           {Op::Kind::kWrite, Word::kRel, self, k},
           {Op::Kind::kWaitGeq, Word::kGate, self, next},
           {Op::Kind::kWrite, Word::kHold, self, next},
           {Op::Kind::kWrite, Word::kGate, self, LastStretch(next)}}};
}

// Returns the operations that give turn `k` of slot `self` back and open `successor`'s gate with `open` (see
// OpenFor). The client writes the gate first: the next client waits for it, and the token must be visible at
// every instant.
constexpr std::array<Op, 2> Release(SlotIndex self, TurnNumber k, SlotIndex successor, std::uint32_t open) {
  return {{{Op::Kind::kWrite, Word::kGate, successor, open}, {Op::Kind::kWrite, Word::kRel, self, k}}};
}

}  // namespace crossover::turn
