// Holds the state that all parts of the gang logic work on: the records of all gangs, the current time, and
// the actions to be done.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/shrink_choice.h"
#include "extender/cluster/cluster_cache.h"
#include "extender/gang/record.h"
#include "extender/gang/settings.h"
#include "extender/placement/fitness.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// Each answer to a scheduler about a pod that must wait begins with this. Users read the answer in the pod's
// condition.
inline constexpr char kWaits[] = "crossover: waits: ";
// Returns what follows kWaits if the scheduler did not ask about the node of the pod's GPUs.
inline std::string NotThere(const std::string& node) {
  return "the scheduler would not have it on " + node + ", where its GPUs are";
}

// Returns how many more pods like this one a node takes, beside the bound pods in the ClusterCache and the
// `planned` resources of pods that are not bound yet.
using PodFits =
    std::function<placement::Fit(const Pod& pod, const std::string& node, const Resources& planned)>;

// A MadeRoom is remembered of a gang that made room for another one (made_room.h).
struct MadeRoom {
  double at_s = 0;     // when it made room the last time
  double since_s = 0;  // since when it has waited, for its place in the queue
};

// A GangStore is not thread-safe. The parts of the gang logic read it and change it, one after the other:
//
//   GangStore
//     cache ------> what the watches say now; the GangStore only reads it
//     gang_of       UID of a pod -> id of its gang
//     gangs         id -> GangRecord (record.h)
//                           members    UID -> Member: what was written to the pod, and what is in flight
//                           plan       GangPlan, at most one
//                              entries a seat each, and the UID of the pod that gets it
//                           vacant     seats of pods that are gone, each kept for the pod that follows it
//                           excluded   nodes that a scheduler refused, for a while
//     owners        OwnerRef -> what was read of the object that says a gang's size
//     makers        Maker::id -> the pods that it made, where no gang of theirs is known
//     made_room     mark of a gang -> when it made room, and its age (made_room.h)
//     held          id of a gang -> the gang for which it has to leave, as an earlier leader decided
//     dirty         ids of the gangs that reconcile.h advances next
//     writes        id of an action -> the gang, pod and plan that its result is for
//     actions       what the caller does after this step
struct GangStore {
  const ClusterCache* cache = nullptr;
  GangSettings settings;
  PodFits fits;
  std::string epoch;                        // prefix of this leader's plan ids; each leader has another one
  double now_s = 0;                         // seconds since 1970
  std::uint64_t next = 1;                   // next id of an action or a plan
  std::map<std::string, GangRecord> gangs;  // by id
  std::unordered_map<std::string, std::string> gang_of;  // id of the gang, by a member's UID
  std::set<std::string> dirty;                           // ids of gangs to advance
  int searches = 0;             // searches for a seat left in this step; each one looks at the whole cluster
  std::set<std::string> later;  // ids of gangs that found `searches` at 0
  std::uint64_t searched = 0;   // number of searches so far
  bool replan = false;          // something changed that a decision depends on
  std::vector<Action> actions;  // to be done after this step
  std::size_t tell_room = 0;    // number of kTell actions that may still be added
  // A Write is a write to a pod that is in flight.
  struct Write {
    Action::Kind kind;
    std::string gang, uid;
    std::string plan;  // id of the plan that it is part of; empty: none
  };
  std::unordered_map<std::uint64_t, Write> writes;  // by the id of the action
  // An OwnerEntry holds what was read from one owner.
  struct OwnerEntry {
    std::optional<OwnerFacts> facts;
    double asked_s = 0;           // when it was last asked; 0: never
    int in_vain = 0;              // number of reads in a row that failed or brought nothing new
    std::uint64_t in_flight = 0;  // id of the read in flight; 0: none
    std::string error;            // of the last read; empty: it succeeded
  };
  std::map<OwnerRef, OwnerEntry> owners;
  // A MakerEntry holds the pods of one controller that are placed by themselves.
  struct MakerEntry {
    std::set<std::string> pods;  // UIDs of those that have not ended
    bool told = false;           // an event says that their gang is not known
  };
  std::map<std::string, MakerEntry> makers;  // by Maker::id
  double quiet_until_s = 0;                  // no writes before this time (Retry-After of the API server)
  std::optional<placement::Reserved> kept;   // from the last decision

  std::map<std::string, MadeRoom> made_room;  // by mark
  // A gang in `held` finds no seats and gathers no pods until the claim of the other gang is taken over, or
  // is found to be given up (room.h).
  std::map<std::string, std::string> held;
  double spared_until_s = 0;  // when the next gang is spared no more; 0: none is spared
  std::array<std::uint64_t, kClaimEnds> claims_ended{};           // by ClaimEnd
  std::uint64_t gangs_left = 0;                                   // departures that went to their end
  std::array<std::uint64_t, base::kShrinkChoiceCount> choices{};  // by place in base::kShrinkChoices

  // Returns the gang that the pod belongs to, or null if it is not known.
  GangRecord* GangOf(const std::string& uid);
  // Returns whether a write to the member may begin now.
  bool MayWrite(const Member& member) const;
  // Begins a write and returns its action, which is valid until the next one is added. Does nothing and
  // returns null if MayWrite() is false or the pod is not known.
  Action* Begin(GangRecord& gang, const std::string& uid, Action::Kind kind, std::string node,
                std::string text);
  // Answers the bind that is held for the member, if there is one. `error` is empty if the pod is bound.
  void Answer(Member& member, std::string error);
  // Returns whether the gang may search for a seat in this step, and counts the search. If it may not, the
  // gang comes into `later`: a later step advances it again.
  bool MaySearch(GangRecord& gang);
  // Sets the reason why the gang waits.
  void Say(GangRecord& gang, std::string text);
};

// Returns those of the gang's pods that are in the ClusterCache.
std::vector<const Pod*> PodsOf(const GangStore& store, const GangRecord& gang);

// A View combines what the watch says of a member with what was written to its pod since. It is valid until
// the ClusterCache or the gang changes.
struct View {
  const Pod* pod = nullptr;  // null: not in the ClusterCache
  const Member* member = nullptr;

  // Returns whether the watch shows our last write to the pod.
  bool current() const;
  // Returns whether the pod exists and has not ended.
  bool living() const { return pod != nullptr && !pod->over && !member->gone; }
  // Returns the node that the pod is bound to, by the watch or else by our own Binding; "": it is not bound.
  std::string node() const { return pod != nullptr && !pod->node.empty() ? pod->node : member->bound; }
  bool bound() const { return living() && !node().empty(); }
  // Returns whether the pod was bound and has succeeded. Its seat is not kept for another pod.
  bool done() const { return pod != nullptr && pod->over && !pod->failed && !pod->node.empty(); }
  // Returns whether the pod is gone, terminates, or is being evicted because its plan failed.
  bool leaving() const { return pod == nullptr || pod->deleting || Leaves(member->eviction) || member->gone; }
  // Returns whether our scheduling gate is on the pod.
  bool gated() const;
  // Returns whether a scheduling gate of another controller is on the pod.
  bool other_gates() const;
  // Returns whether a reservation may be on the pod, as far as the watch and our own writes tell.
  bool may_have_reservation() const;
  // Returns whether the pod is alive, not bound, not terminating, and has no gate of another controller.
  bool waiting() const { return living() && node().empty() && !leaving() && !other_gates(); }
};
// Returns the View of a member. REQUIRES: `uid` is that of `member`.
View ViewOf(const GangStore& store, const std::string& uid, const Member& member);
// Returns the View of the member `uid` of the gang. REQUIRES: `uid` is that of a member.
View ViewOf(const GangStore& store, const GangRecord& gang, const std::string& uid);

// Returns whether `version` is at least as new as `other`. Both are resourceVersions, which are numbers in
// practice, and since Kubernetes 1.35 by contract. Returns true if one is not a number.
bool AsNewAs(const std::string& version, const std::string& other);

}  // namespace crossover::extender
