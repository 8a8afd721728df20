// Decides which client should have a token that no client uses: the order of turns.
//
// The rule is first come, first served, with one exception. Arrivals within the tie window W of each other
// run in the order of sorted gang names, which every arbiter knows. All GPUs of two jobs therefore run the
// jobs in the same order without a message between the GPUs (the order trap, docs/design/0001-who-grants.md).
// An idle GPU waits for at most W, and only if the preferred client is expected within it. When turns begin,
// the policy does not know when clients come. It then expects all of them within a longer window: jobs that
// ran side by side before come nearly at the same time, and each GPU may see another one first. While no
// client waits, the policy parks the token where it expects the next arrival, so that this turn costs no
// hand-over.
//
// Under load the policy is not asked: the holder hands over to Successor(), the next client in the same
// order. There is one exception: if the same client came back first after the last such turn, as after a
// small collective, it keeps the token.
//
// A turn is broken at a yield point (turn/ops.h) for a client that has a higher priority or has waited for
// too long, and for a few kernels before a long absence (an input stall). If jobs are so unequal that whole
// turns would starve one (turn/fair_share.h), it is also broken after a quantum for a client that has turns
// due. The same rules then choose which client is let in. A client that cannot wait any longer without
// breaking its cap on slowdown (turn/caps.h) is *pressed*: while it is, it ranks above every priority.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/caps.h"
#include "turn/client_words.h"
#include "turn/fair_share.h"
#include "turn/timing_model.h"

namespace crossover::turn {

// PolicySettings holds the settings of the order of turns. Times are in nanoseconds.
struct PolicySettings {
  // The tie window is this long. 0 means a tenth of the shortest of the clients' next turns, at most
  // kMaxTieWindow. With a larger window, a small turn that comes back within the window of a long one would
  // lose its place to a neighbour that is not even there.
  Time tie_window = 0;
  // False means plain first come, first served. Only tests and models use it, to show what the rule prevents.
  bool tie_rule = true;
  // A client may hold the GPU for this long before a client that has turns due is let in. 0: turns stay
  // whole.
  Time quantum = 5'000'000;
  // A client that has waited for this long goes before all others, whatever its priority, for one quantum.
  Time longest_wait = 800'000'000;
};
enum class Priority : std::uint8_t { kLow, kNormal, kHigh };
inline constexpr Time kMaxTieWindow = 2'000'000;

class Policy {
 public:
  explicit Policy(const PolicySettings& settings = {}) : settings_(settings) {}

  // Forgets what is known of the slot and starts with a new client. Smaller `order` goes first.
  void Join(SlotIndex slot, std::uint32_t order);
  void SetPriority(SlotIndex slot, Priority priority) { priority_[slot] = priority; }
  // SetCap() sets how much slower than alone the client's iterations may be; 0 for no cap. SetKnown() sets
  // a demand that was measured while the client was alone, which is better than what its timing tells.
  void SetCap(SlotIndex slot, double cap) { pace_[slot].set_cap(cap); }
  void SetKnown(SlotIndex slot, const Demand& demand) { known_[slot] = demand; }
  // Forgets what the client needs, so that it is learned anew.
  void Forget(SlotIndex slot) {
    timing_[slot].Forget();
    known_[slot] = {};
  }
  void SetOrder(SlotIndex slot, std::uint32_t order) { order_[slot] = order; }
  void SetTurns(SlotIndex slot, std::uint32_t turns) { timing_[slot].SetTurns(turns); }
  // Sets the job's iteration number minus its turn number divided by the turns per iteration. The client
  // reports it, and it is the same on all ranks of the job.
  void SetIterationOffset(SlotIndex slot, std::uint32_t offset) { iteration_offset_[slot] = offset; }
  void set_settings(const PolicySettings& settings) { settings_ = settings; }
  // Says whether a turn ends when its last collective has ended (in time-slices), and not where that
  // collective begins. Two GPUs that let in different jobs then hold up both jobs. Therefore no client keeps
  // the token by a hint that its host fixed an iteration ago, and a turn is broken only when it is far longer
  // than usual, such as an evaluation.
  void SetTurnsLast(bool last) { turns_last_ = last; }
  // Gives all turns to this client, whichever clients wait, until it is overdue; kNobody ends this. The rule
  // ends with an overdue client because another GPU of the two jobs may have named the other job: each job
  // would wait for its rank on the other GPU forever.
  void SetOwner(SlotIndex slot) { owner_ = slot; }
  SlotIndex owner() const { return owner_; }

  // Watch() learns from the words of one member in a collect, and returns what has changed. Call Watch() once
  // per collect for every member, then call Settle().
  TimingModel::Change Watch(SlotIndex slot, const ClientWords& words, Time now);
  void Settle(SlotSet members, Time now);

  // Ignores the present turn of `slot` when learning: its length is not representative.
  void Disregard(SlotIndex slot) { timing_[slot].Disregard(); }
  // Says that `slot` takes no turns for a while.
  void Pause(SlotIndex slot) { timing_[slot].Pause(); }

  // A Choice names the client that an unused token should go to, and says when to ask again if nothing
  // changes before.
  struct Choice {
    SlotIndex slot = kNobody;
    Time ask_again = kNever;
    bool holds_back = false;  // a client waits, and is kept waiting for the preferred one
  };
  Choice Want(SlotSet members, Time now) const;

  // Returns whether the turn of `holder` should be broken at its next yield point.
  bool ShouldPreempt(SlotSet members, SlotIndex holder, Time now) const;
  // Returns how long the stretches of `slot` should be in its turns at `position` of the iteration, so that
  // a choice of ShouldPreempt() takes effect in time. 0: as long as the turn.
  Time StretchWanted(SlotSet members, SlotIndex slot, std::uint32_t position) const;
  // Returns when to look again while `holder` holds: when a client may come that `holder` would have to let
  // in. kNever: no such client is expected.
  Time NextRival(SlotSet members, SlotIndex holder, Time now) const;

  // Returns the client to which `slot` should hand over at the end of its turn `k`: the next client in
  // order, in rotation. It is `slot` itself if it is alone, or if its own turn came next after the last
  // such turn.
  SlotIndex Successor(SlotSet members, SlotIndex slot, TurnNumber k) const;

  Time TieWindow(SlotSet members) const;
  // Before() returns whether `a` goes before `b` if they come at the same time. First() returns the client
  // that goes before all other members, or kNobody for none. Both are the same on all GPUs.
  bool Before(SlotIndex a, SlotIndex b) const;
  SlotIndex First(SlotSet members) const;
  const TimingModel& timing(SlotIndex slot) const { return timing_[slot]; }
  // Returns the job's number of the iteration of the last turn that `slot` gave back.
  std::uint32_t LastIterationOf(SlotIndex slot) const;
  // Returns the job's number of the iteration of the present turn of `slot`.
  std::uint32_t IterationOf(SlotIndex slot) const;
  // Returns what the client's job needs of this GPU, as far as is known.
  Demand DemandOf(SlotIndex slot) const;

 private:
  Choice FirstCome(SlotSet members, Time window) const;
  Choice UnlessDue(SlotSet members, Choice choice, Time now) const;
  bool Suffers(SlotIndex slot, Time now) const;
  // Returns whether `owner_` has the GPU at `now`.
  bool Owned(SlotSet members, Time now) const;
  // Returns the client's priority; a pressed client ranks above all priorities.
  int Rank(SlotIndex slot) const;
  // Returns how much longer the client may wait without breaking its cap; kNever without a cap.
  Time Allowance(SlotIndex slot, Time now) const;
  void Keep(SlotIndex slot, const TimingModel::Change& change, Time now);
  // Returns the members that no waiting client of a higher rank pushes aside.
  SlotSet Eligible(SlotSet members) const;
  // Returns the FairRate of the members, or 0 if no turn should be broken for shares or a demand is not
  // known yet.
  double Fair(SlotSet members) const;
  // MayBreak() returns whether whole turns of `holder` would starve `slot`, whose share is `fair`.
  // Unequal() returns whether that holds for some pair.
  bool MayBreak(SlotIndex slot, SlotIndex holder, double fair) const;
  bool Unequal(SlotSet members) const;
  // Returns whether the client is expected at any moment.
  bool IsDue(SlotIndex slot, Time now) const;
  // Returns whether the next turn of `slot` should break that of `holder`, and will soon be given back.
  bool GoesBetween(SlotIndex slot, SlotIndex holder) const;
  void CountTurns();
  bool HasTurnsDue(SlotIndex slot, SlotIndex holder) const;
  Time Expected(SlotIndex slot, Time now, Time window) const;
  // Returns whether turns begin: no member has had a turn yet.
  bool Begins(SlotSet members) const;

  PolicySettings settings_;
  TimingModel timing_[kMaxSlots];
  // within_[j][i] counts the turns that i began since j began its last one.
  std::uint32_t within_[kMaxSlots][kMaxSlots] = {};
  std::uint32_t iteration_offset_[kMaxSlots] = {};
  Priority priority_[kMaxSlots] = {};
  Pace pace_[kMaxSlots];
  Demand known_[kMaxSlots];  // demand measured while alone, not from its timing
  SlotSet pressed_;          // as of the last Settle()
  bool turns_last_ = false;
  SlotIndex owner_ = kNobody;            // of all turns; kNobody: none
  SlotSet began_;                        // clients that began a turn since the last Settle()
  SlotSet suffered_;                     // clients let in because they had waited too long
  std::uint32_t order_[kMaxSlots] = {};  // place of the gang's name among all; smaller goes first
  SlotIndex gave_back_ = kNobody;        // client of the last turn that ended, until the next turn is seen
  SlotIndex took_ = kNobody;             // client of the last turn that began, until Settle()
};

}  // namespace crossover::turn
