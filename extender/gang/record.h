// Defines what is remembered of a gang beyond what the cluster says of its pods. All of it may be lost with
// a leader: adopt.h restores what matters.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "extender/gang/actions.h"
#include "extender/gang/claim.h"
#include "extender/gang/membership.h"
#include "extender/gang/phases.h"
#include "extender/gang/pod_rank.h"
#include "extender/gang/reservation.h"
#include "extender/placement/model.h"
#include "extender/reductions/choice.h"

namespace crossover::extender {

// A Member is one pod of a gang: what this leader wrote to it, and what it waits for.
struct Member {
  PodRank rank;  // among the pods of the gang
  // The pod's resourceVersion after the last accepted write. View::current() is false for an older view.
  std::string version;
  std::string seen;  // the newest resourceVersion of the pod that the watch has shown
  PodPhase phase = PodPhase::kUnreserved;
  Eviction eviction = Eviction::kNone;
  // The next three are facts of the pod that the watch may not show yet. They outlive a plan.
  bool maybe_reserved = false;            // some reservation may be on the pod
  bool lifted = false;                    // its gate was lifted
  bool gone = false;                      // the pod does not exist any more, whatever the watch says
  std::string bound;                      // the node that it is bound to; empty: none
  double bound_s = 0;                     // when that became known; 0: never
  PodSeat seat;                           // what it is assigned
  std::uint64_t in_flight = 0;            // id of the write in flight, one at a time; 0: none
  double retry_s = 0;                     // no write before this time
  int failures = 0;                       // of writes, in a row
  std::optional<BindHandle> bind_handle;  // the bind call that is held
  double held_s = 0;                      // since when it is held
  std::string message;                    // of its condition PodScheduled, when the plan was made
  std::string told;                       // text of the last event
  double told_s = 0;                      // time of the last event
  int tellings = 0;                       // number of different texts in its events

  void Note(PodEvent event) { phase = Next(phase, event); }
  void Note(EvictionEvent event) { eviction = Next(eviction, event); }
};

// A PlanEntry is a seat of a plan and the pod that gets it.
struct PlanEntry {
  placement::Seat seat;
  std::string uid;  // of the pod; empty: none yet
  int wave = 0;     // its pod is released once those of earlier waves are bound
  // The pod that had the seat before; none: no pod had it, or it is not known.
  std::optional<PodRank> of{};
};

// A Vacancy is the seat of a pod that is gone, kept for the pod that comes in its place.
struct Vacancy {
  placement::Seat seat;
  std::optional<PodRank> of;  // of the pod that had it; none: no pod had it yet
};

// A GangPlan gives seats to members of a gang. The functions of plan_executor.h carry it out or take it back.
struct GangPlan {
  std::string id;
  std::vector<PlanEntry> entries;
  PlanPhase phase = PlanPhase::kReserving;
  double until_s = 0;            // its deadline
  bool whole = true;             // the plan is for all members; otherwise it is for members that came again
  int size = 0;                  // GangRecord::set_size() when the plan was made
  int done = 0;                  // members that had done their work by then
  int asked = 0;                 // number of reads of the gang's size since the deadline
  bool at_once = false;          // the next plan may follow without a hold-off
  bool evicts = false;           // bound pods of the gang are evicted because it fails
  std::string why{};             // the reason why it fails
  std::optional<Claim> claim{};  // set while other gangs still have its GPUs
  std::optional<Left> left{};    // which gangs made room for it; unset: none

  void Note(PlanEvent event) { phase = Next(phase, event); }
  bool failing() const { return IsFailing(phase); }
  // Returns the UIDs of the pods that have an entry. They are those of `entries`, which must not change
  // meanwhile.
  std::unordered_set<std::string_view> seated() const {
    std::unordered_set<std::string_view> uids;
    for (const PlanEntry& entry : entries) uids.insert(entry.uid);
    return uids;
  }
};

// An Exclusion keeps a gang off a node.
struct Exclusion {
  double until_s = 0;
  int times = 0;      // number of times that the node was excluded
  std::string why{};  // the scheduler's message; empty: none has come yet
};

// A RemovalState says how far the eviction of a gang's bound pods is (removal.h).
enum class RemovalState : std::uint8_t { kNone, kEvicting, kForbidden };

// A Removal holds what is known of the last try to evict a gang's bound pods.
struct Removal {
  RemovalState state = RemovalState::kNone;
  int refusals = 0;    // by disruption budgets, in a row
  double retry_s = 0;  // no other try before this time
  std::string why{};   // why they stay; empty: nothing forbids their eviction
};

// A GangRecord is everything that is remembered of one gang.
struct GangRecord {
  Membership membership;
  std::map<std::string, Member> members;  // by UID
  std::optional<GangPlan> plan;
  Removal removal;
  std::optional<Departure> departure;         // set while it makes room for another gang
  std::vector<Vacancy> vacant;                // kept for pods that come again
  double vacant_s = 0;                        // when the last one was added
  std::map<std::string, Exclusion> excluded;  // by node
  bool adopted = false;                       // Adopt() has run
  Completion completion = Completion::kNever;
  Demand demand = Demand::kNone;
  // The number of members that had done their work, or failed for good, when its plan was made, and of those
  // that an elastic gang began without. A member that ends later still counts in the set of GPUs: the gangs
  // that share with this one have the whole set.
  int ended_before = 0;
  bool crowded = false;             // some pods are bound, and more wait than its size allows
  int failures = 0;                 // of plans, in a row
  double hold_until_s = 0;          // no plan before this time
  std::string fault{};              // what is invalid or contradictory in its pods; empty: nothing
  double complete_s = 0;            // when it was first complete since it was last placed; 0: not yet
  int asked = 0;                    // number of reads of its size since it had to be ended for lack of pods
  std::optional<double> lacking_s;  // since when some pods are bound and others wait without a seat
  double seat_retry_s = 0;          // no search for a seat before this time
  int seat_failures = 0;            // of such searches, in a row
  std::uint64_t searched = 0;       // GangStore::searched at its last search
  // `granted` is the number of bytes of each GPU's memory that the decision which placed the gang grants its
  // pods. It is 0 if there is no limit, or if the pods name it. It is kept here because the profile may
  // change before the watch shows the pods' annotations.
  std::optional<placement::Bytes> granted;
  // `chosen` is the level of compressed reductions that the same decision chose for its pods. Unset: their
  // owner names it, or no decision is known.
  std::optional<ShrinkChosen> chosen;
  std::string text;  // why it waits
  // Why bound pods of the gang were evicted; empty: none were, or the gang has been complete since.
  std::string evicted_for{};

  // Returns whether all its members were bound once.
  bool placed() const { return completion != Completion::kNever; }
  void NotePlaced() { completion = placed() ? completion : Completion::kOnce; }
  // Notes that annotations of its pods may not say any more that all were bound.
  void NoteUnrecorded() { completion = placed() ? Completion::kOnce : completion; }
  // Returns the number of pods that the gang's set of GPUs is for.
  int set_size() const { return membership.size - ended_before; }
  // Makes the set one for this many pods, if it is for fewer: an elastic gang that began with fewer has
  // grown.
  void Widen(int pods) { ended_before = std::clamp(membership.size - pods, 0, std::max(0, ended_before)); }
  // Keeps a seat for a pod that comes again.
  void Vacate(placement::Seat seat, std::optional<PodRank> of, double now_s) {
    vacant.push_back({std::move(seat), std::move(of)});
    vacant_s = now_s;
  }
};

}  // namespace crossover::extender
