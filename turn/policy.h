// Who should have a token that nobody uses: the order of turns.
//
// First come, first served, but arrivals within the tie window W of each other run in the order of sorted
// gang names, which every arbiter knows: so all GPUs of two jobs run them in the same order without a message
// between them (the order trap, docs/design/0001-who-grants.md). An idle GPU is held up to W, and only where
// the preferred client is expected inside it. When turns begin, nothing is known of when clients come: then
// all are expected within a W of its own. Jobs that ran side by side before come nearly at the same time, and
// on each GPU another one may come first. While nobody waits, the token is parked where the next arrival is
// expected, so that it costs no hand-over at all.
//
// Under load the policy is not asked: the holder hands over to `Successor`, the next in the same order,
// unless the turn just ended is one after which the same client has come back first, as after a small
// collective.
//
// A turn is broken at a yield point (turn/ops.h) for whoever has a higher priority, for whoever has waited
// for too long, for a few kernels before a long absence (an input stall), and, where jobs are so unequal that
// whole turns would starve one (turn/shares.h), after a quantum for whoever has turns due. Whoever is let in
// then is chosen by the same rules. A client that may not wait any longer without breaking its cap on
// slowdown (turn/caps.h) is *pressed*: for as long, that is more than any priority.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/caps.h"
#include "turn/rhythm.h"
#include "turn/shares.h"
#include "turn/words.h"

namespace crossover::turn {

struct PolicySettings {
  // The tie window; 0: a tenth of the shortest of the turns that come next, at most kMaxTieWindow. A job's
  // small turn, back within the window of a long one, would lose its place to a neighbour who is not even
  // there.
  Time tie_window = 0;
  // Off: bare first come, first served. Only to show what the rule cures.
  bool tie_rule = true;
  // How long a client may hold the GPU before one that has turns due is let in. 0: turns stay whole.
  Time quantum = 5'000'000;
  // A client that has waited for so long goes before all others, whatever its priority, for one quantum.
  Time longest_wait = 800'000'000;
};
enum class Priority : std::uint8_t { kLow, kNormal, kHigh };
inline constexpr Time kMaxTieWindow = 2'000'000;

class Policy {
 public:
  explicit Policy(const PolicySettings& settings = {}) : settings_(settings) {}

  void Join(SlotIndex slot, std::uint32_t order);
  void SetPriority(SlotIndex slot, Priority priority) { priority_[slot] = priority; }
  // How much slower than alone its iterations may be, 0 for as slow as comes; and what it is known to need
  // from elsewhere, better than from its rhythm: from when it was alone.
  void SetCap(SlotIndex slot, double cap) { pace_[slot].set_cap(cap); }
  void SetKnown(SlotIndex slot, const Demand& demand) { known_[slot] = demand; }
  void SetOrder(SlotIndex slot, std::uint32_t order) { order_[slot] = order; }
  void SetTurns(SlotIndex slot, std::uint32_t turns) { rhythm_[slot].SetTurns(turns); }
  // The job's iteration number less that of its turn divided by the turns of an iteration: the same on all
  // its ranks, as they say.
  void SetIterationOffset(SlotIndex slot, std::uint32_t offset) { iteration_offset_[slot] = offset; }
  void set_settings(const PolicySettings& settings) { settings_ = settings; }
  // Whether a turn ends with its last collective (in time-slices), and not where that begins. Then two GPUs
  // that let different jobs in hold up both: nobody keeps the turn by a hint that was baked an iteration ago,
  // and a turn is not broken, by whatever claim, unless it is an evaluation.
  void SetTurnsLast(bool last) { turns_last_ = last; }
  // From now on turns are this client's, whoever waits, as long as it comes about when it should (on another
  // GPU of the two jobs the other may have been named: then neither could end a collective); kNobody: no
  // more.
  void SetOwner(SlotIndex slot) { owner_ = slot; }
  SlotIndex owner() const { return owner_; }

  // Learns from a collect. Call once per collect for every member, then Settle.
  Rhythm::Change Watch(SlotIndex slot, const ClientWords& words, Time now);
  void Settle(SlotSet members, Time now);

  // The present turn of `slot` tells nothing of its usual length.
  void Disregard(SlotIndex slot) { rhythm_[slot].Disregard(); }
  // `slot` takes no turns for a while.
  void Pause(SlotIndex slot) { rhythm_[slot].Pause(); }

  // Where an unused token belongs, and when to ask again if nothing changes before.
  struct Wish {
    SlotIndex slot = kNobody;
    Time ask_again = kNever;
    bool holds_back = false;  // somebody waits, and is kept waiting for the preferred one
  };
  Wish Want(SlotSet members, Time now) const;

  // Whether the turn of `holder` should be broken at its next yield point.
  bool ShouldPreempt(SlotSet members, SlotIndex holder, Time now) const;
  // How long the stretches of `slot` should be in its turns at a place of the iteration, for ShouldPreempt to
  // be heeded in time; 0: as long as the turn.
  Time StretchWanted(SlotSet members, SlotIndex slot, std::uint32_t position) const;
  // What to look out for while `holder` holds: the arrival of somebody whom it would have to let in. kNever:
  // nothing.
  Time NextRival(SlotSet members, SlotIndex holder, Time now) const;

  // The client to which `slot` should hand over at the end of its turn `k`: the next in order, round the
  // ring; itself when alone, or when that is what came after the last such turn.
  SlotIndex Successor(SlotSet members, SlotIndex slot, TurnNumber k) const;

  Time TieWindow(SlotSet members) const;
  // Who goes first of two that come at the same time, and of all: the same on all GPUs. kNobody: of none.
  bool Before(SlotIndex a, SlotIndex b) const;
  SlotIndex First(SlotSet members) const;
  const Rhythm& rhythm(SlotIndex slot) const { return rhythm_[slot]; }
  // The job's number of the iteration of the last turn that `slot` gave back.
  std::uint32_t LastIterationOf(SlotIndex slot) const;
  // What its job needs of this GPU, as far as is known.
  Demand DemandOf(SlotIndex slot) const;

 private:
  Wish FirstCome(SlotSet members, Time window) const;
  Wish UnlessDue(SlotSet members, Wish wish, Time now) const;
  bool Suffers(SlotIndex slot, Time now) const;
  // Whether `owner_` has the GPU at `now`.
  bool Owned(SlotSet members, Time now) const;
  // Its priority, and above all of those that it is pressed.
  int Rank(SlotIndex slot) const;
  // For how long it may wait yet, for its cap; kNever without one.
  Time Allowance(SlotIndex slot, Time now) const;
  void Keep(SlotIndex slot, const Rhythm::Change& change, Time now);
  // Those that waiting clients of a higher rank do not push aside.
  SlotSet Eligible(SlotSet members) const;
  // FairRate of them; 0 where no turn is to be broken for shares, or somebody's demand is not known yet.
  double Fair(SlotSet members) const;
  // Whether whole turns of `holder` would starve `slot`, where `fair` is its share; of anybody, anybody else.
  bool MayBreak(SlotIndex slot, SlotIndex holder, double fair) const;
  bool Unequal(SlotSet members) const;
  // Whether it is expected any moment.
  bool IsDue(SlotIndex slot, Time now) const;
  // Whether the next turn of `slot` should break that of `holder`, and give it back soon.
  bool GoesBetween(SlotIndex slot, SlotIndex holder) const;
  void CountTurns();
  bool HasTurnsDue(SlotIndex slot, SlotIndex holder) const;
  std::uint32_t IterationOf(SlotIndex slot) const;
  Time Expected(SlotIndex slot, Time now, Time window) const;
  // Whether turns begin: none of them has had one.
  bool Begins(SlotSet members) const;

  PolicySettings settings_;
  Rhythm rhythm_[kMaxSlots];
  // [j][i]: turns that i began since j began its last one
  std::uint32_t within_[kMaxSlots][kMaxSlots] = {};
  std::uint32_t iteration_offset_[kMaxSlots] = {};
  Priority priority_[kMaxSlots] = {};
  Pace pace_[kMaxSlots];
  Demand known_[kMaxSlots];  // not from its rhythm
  SlotSet pressed_;          // as of the last Settle
  bool turns_last_ = false;
  SlotIndex owner_ = kNobody;            // of all turns
  SlotSet began_;                        // turns, until Settle
  SlotSet suffered_;                     // let in for having waited too long
  std::uint32_t order_[kMaxSlots] = {};  // place of the gang's name among all; smaller goes first
  SlotIndex gave_back_ = kNobody;        // the last turn's client, until the next turn is seen
  SlotIndex took_ = kNobody;             // the last turn seen to begin, until Settle
};

}  // namespace crossover::turn
