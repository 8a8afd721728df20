// Who should have a token that nobody uses: the order of turns.
//
// First come, first served, but arrivals within the tie window W of each other run in the order of sorted
// gang names, which every arbiter knows: so all GPUs of two jobs run them in the same order without a message
// between them (the order trap, docs/design/0001-who-grants.md). An idle GPU is held up to W, and only where
// the preferred client is expected inside it. While nobody waits, the token is parked where the next arrival
// is expected, so that it costs no hand-over at all.
//
// Under load the policy is not asked: the holder hands over to `Successor`, the next in the same order.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/words.h"

namespace crossover::turn {

using Time = std::int64_t;  // nanoseconds of a monotonic clock; differences too
inline constexpr Time kNever = INT64_MAX;

struct PolicySettings {
  // The tie window; 0: a tenth of the shortest learned turn, at most kMaxTieWindow.
  Time tie_window = 0;
  // Off: bare first come, first served. Only to show what the rule cures.
  bool tie_rule = true;
};
inline constexpr Time kMaxTieWindow = 2'000'000;

// What the policy knows of one client's rhythm, from watching its words change.
struct Rhythm {
  std::uint32_t order = 0;  // place of its gang's name among all; smaller goes first
  ClientWords last;
  Time arrived = kNever;   // when its present wait was first seen
  Time held = kNever;      // when its present turn was first seen
  Time released = kNever;  // when its last turn was seen to end
  Time gap = kNever;       // from its last release to the arrival after it
  Time turn = kNever;      // length of its last turns, smoothed
  bool odd = false;        // its present turn is not to be learned
};

class Policy {
 public:
  explicit Policy(const PolicySettings& settings = {}) : settings_(settings) {}

  void Join(SlotIndex slot, std::uint32_t order);
  void SetOrder(SlotIndex slot, std::uint32_t order) { rhythm_[slot].order = order; }
  void set_settings(const PolicySettings& settings) { settings_ = settings; }

  // Learns from a collect. Call once per collect, before Want.
  struct Change {
    bool arrived = false, held = false, released = false;
    Time waited = 0;  // with `held`: since arrival
    Time turn = 0;    // with `released`: since held
  };
  Change Watch(SlotIndex slot, const ClientWords& words, Time now);

  // The present turn of `slot` tells nothing of its usual length.
  void Disregard(SlotIndex slot) { rhythm_[slot].odd = true; }

  // Where an unused token belongs, and when to ask again if nothing changes before.
  struct Wish {
    SlotIndex slot = kNobody;
    Time ask_again = kNever;
    bool holds_back = false;  // somebody waits, and is kept waiting for the preferred one
  };
  Wish Want(SlotSet members, Time now) const;

  // The client to which `slot` should hand over: the next in order, round the ring; itself when alone.
  SlotIndex Successor(SlotSet members, SlotIndex slot) const;

  Time TieWindow(SlotSet members) const;
  const Rhythm& rhythm(SlotIndex slot) const { return rhythm_[slot]; }

 private:
  Wish FirstCome(SlotSet members) const;
  Time Expected(SlotIndex slot, Time now, Time window) const;
  bool Before(SlotIndex a, SlotIndex b) const;

  PolicySettings settings_;
  Rhythm rhythm_[kMaxSlots];
};

}  // namespace crossover::turn
