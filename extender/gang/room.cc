#include "extender/gang/room.h"

#include <algorithm>
#include <utility>

#include "common/text/list.h"
#include "extender/gang/departure.h"
#include "extender/gang/leave.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/plan_executor.h"
#include "extender/gang/planner.h"
#include "extender/gang/request.h"
#include "extender/gang/snapshot.h"

namespace crossover::extender {
namespace {

// A Next says what may be done next about a victim.
enum class Next : std::uint8_t {
  kLeft,     // the gang has no GPUs any more
  kBegin,    // its departure may begin
  kWait,     // it is not known yet whether the gang may leave
  kStay,     // a disruption budget forbids it
  kChanged,  // the gang has changed since it was chosen
};

// Returns whether users of one of the gangs may read the name of the other one.
bool MayRead(const GangRecord& gang, const GangRecord& other) {
  return gang.membership.name_space() == other.membership.name_space();
}

// Returns whether the gang is of lower rank than the pods for which the claimant's plan is. Pods of the
// claimant that have done their work do not count, as when the engine decided.
bool IsLower(const GangStore& store, const GangRecord& gang, const GangRecord& claimant) {
  std::vector<const Pod*> planned;
  for (const PlanEntry& entry : claimant.plan->entries) {
    if (const Pod* pod = store.cache->FindPod(entry.uid)) planned.push_back(pod);
  }
  if (planned.empty()) return false;
  const auto rank = [&store](const GangRecord& of, const std::vector<const Pod*>& pods) {
    return RequestOf(of.membership, pods, 1, *store.cache).gang.rank;
  };
  return rank(gang, PodsOf(store, gang)) < rank(claimant, planned);
}

// Returns whether a pod of the gang that was there at `at_s` is bound.
bool HasOldPods(const GangStore& store, const GangRecord& gang, double at_s) {
  return std::ranges::any_of(gang.members, [&](const auto& entry) {
    const View view = ViewOf(store, entry.first, entry.second);
    return view.bound() && view.pod->created_s <= at_s;
  });
}

bool HasGpus(const GangStore& store, const std::string& id) {
  const auto gang = store.gangs.find(id);
  if (gang == store.gangs.end()) return false;
  const Head head = CountOf(store, gang->second);
  return head.bound + head.leaving > 0;
}

Next NextOf(const GangStore& store, const GangRecord& claimant, const std::string& id) {
  if (!HasGpus(store, id)) return Next::kLeft;
  const GangRecord& gang = store.gangs.at(id);
  if (gang.departure) return Next::kWait;  // for another gang, as an earlier claim wanted it
  const bool recovered = claimant.plan->claim->recovered;
  if (recovered && !gang.adopted) return Next::kWait;
  // An earlier leader may have begun to evict the gang. Then it is not whole, and the rest of it leaves.
  if (recovered ? gang.plan.has_value() : !IsSteady(store, gang)) return Next::kChanged;
  if (!IsLower(store, gang, claimant)) return Next::kChanged;
  return WhyTheyMayNotLeave(store, {&id, 1}).empty() ? Next::kBegin : Next::kStay;
}

// Returns the departure of this victim for the claimant, or null if it has left, or has not begun.
const Departure* DepartureOf(const GangStore& store, const GangRecord& claimant, const std::string& id) {
  const auto gang = store.gangs.find(id);
  if (gang == store.gangs.end() || !gang->second.departure) return nullptr;
  const Departure& departure = *gang->second.departure;
  return departure.claimant == claimant.membership.id ? &departure : nullptr;
}

// Returns whether the evictions of this victim, whose departure has begun, are accepted.
bool IsAccepted(const GangStore& store, const GangRecord& claimant, const std::string& id) {
  const Departure* departure = DepartureOf(store, claimant, id);
  return departure == nullptr || departure->state != Departure::State::kEvicting;
}

// Returns whether each GPU of the plan has a slot for the gang now, and none is with a pod of no gang or with
// a pod that terminates.
bool AreFree(const GangStore& store, const GangRecord& gang) {
  const placement::State state = SnapshotOf(store);
  return std::ranges::all_of(gang.plan->entries, [&](const PlanEntry& entry) {
    const auto node = std::ranges::find(state.nodes, entry.seat.node, &placement::Node::name);
    if (node == state.nodes.end()) return false;
    return std::ranges::all_of(entry.seat.gpus, [&](const std::string& uuid) {
      int others = 0;
      for (const placement::Placed& placed : state.placed) {
        if (placed.gang.id == gang.membership.id) continue;
        const bool has = std::ranges::any_of(placed.seats, [&](const placement::Seat& seat) {
          return seat.node == entry.seat.node && std::ranges::find(seat.gpus, uuid) != seat.gpus.end();
        });
        if (has && !store.gangs.contains(placed.gang.id)) return false;
        others += has ? 1 : 0;
      }
      const auto gpu = std::ranges::find(node->gpus, uuid, &placement::Gpu::uuid);
      return gpu != node->gpus.end() && others < gpu->slots;
    });
  });
}

void GiveUp(GangStore& store, GangRecord& gang, ClaimEnd end, std::string why, bool at_once) {
  EndClaim(store, gang, end);
  Fail(store, gang, std::move(why), at_once);
}

// Begins the departure of the next victim if the one before it is accepted. Returns whether all victims have
// begun and are accepted. May give the claim up.
bool BeginNext(GangStore& store, GangRecord& gang) {
  Claim& claim = *gang.plan->claim;
  while (claim.begun == 0 || IsAccepted(store, gang, claim.victims[claim.begun - 1])) {
    if (claim.begun == claim.victims.size()) return true;
    const std::string& victim = claim.victims[claim.begun];
    switch (NextOf(store, gang, victim)) {
      case Next::kLeft:
        store.held.erase(victim);
        break;
      case Next::kBegin:
        store.held.erase(victim);
        BeginDeparture(store, store.gangs.at(victim), gang);
        break;
      case Next::kWait:
        return false;
      case Next::kStay:
        GiveUp(store, gang, ClaimEnd::kForbidden,
               "disruption budgets do not allow the eviction of a job of lower priority", false);
        return false;
      case Next::kChanged:
        GiveUp(store, gang, ClaimEnd::kChanged, "a job that had to make room has changed", false);
        return false;
    }
    ++claim.begun;
  }
  return false;
}

// Tells which gangs the claimant waits for.
void SayWhoLeaves(GangStore& store, GangRecord& gang) {
  std::string names;
  int others = 0;
  for (const std::string& id : gang.plan->claim->victims) {
    const auto victim = store.gangs.find(id);
    const bool known = victim != store.gangs.end() && MayRead(gang, victim->second);
    if (known) text::AddTo(&names, victim->second.membership.name);
    others += known ? 0 : 1;
  }
  if (others > 0) text::AddTo(&names, others == 1 ? "another job" : std::to_string(others) + " other jobs");
  store.Say(gang, "GPUs are reserved for this gang; jobs of lower priority have to leave them: " + names);
}

// Ends the claim: the plan goes on like any other, and its time begins now. Its reservations are written
// anew, without the claim.
void Open(GangStore& store, GangRecord& gang) {
  EndClaim(store, gang, ClaimEnd::kRoomMade);
  gang.plan->until_s = store.now_s + store.settings.deadline_s;
  for (const PlanEntry& entry : gang.plan->entries) gang.members.at(entry.uid).Note(PodEvent::kPlanned);
  store.dirty.insert(gang.membership.id);
}

}  // namespace

std::string NameFor(const GangRecord& gang, const GangRecord& other) {
  return MayRead(other, gang) ? gang.membership.name : "another job";
}

void StartClaim(GangStore& store, GangRecord& gang, std::vector<placement::Seat> seats,
                std::vector<std::string> victims) {
  StartPlan(store, gang, EntriesOf(std::move(seats)), true);
  Left left{.at_s = store.now_s, .gangs = {}};
  for (const std::string& id : victims) {
    const GangRecord& victim = store.gangs.at(id);
    left.gangs[VictimKeyOf(victim.membership)] = {.mark = MarkOf(victim.membership),
                                                  .since_s = AgeOf(store, victim)};
  }
  gang.plan->left = std::move(left);
  gang.plan->claim = Claim{.victims = std::move(victims)};
}

void MakeRoom(GangStore& store, GangRecord& gang) {
  Claim& claim = *gang.plan->claim;
  const auto sound = [&store](const PlanEntry& entry) { return IsSound(store, entry.seat); };
  if (!std::ranges::all_of(gang.plan->entries, sound))
    return GiveUp(store, gang, ClaimEnd::kSeatsLost,
                  "a node or GPU reserved for the gang takes no new pods now", true);
  SayWhoLeaves(store, gang);
  const auto reserved = [&gang](const PlanEntry& entry) {
    return !entry.uid.empty() && IsReserved(gang.members.at(entry.uid).phase);
  };
  if (!std::ranges::all_of(gang.plan->entries, reserved)) return;
  if (claim.forbidden)
    return GiveUp(store, gang, ClaimEnd::kForbidden,
                  "disruption budgets have kept a job of lower priority that had to make room", false);
  if (!BeginNext(store, gang)) return;
  const auto leaves = [&](const std::string& id) { return DepartureOf(store, gang, id) != nullptr; };
  if (std::ranges::any_of(claim.victims, leaves)) return;
  if (claim.left_s == 0) claim.left_s = store.now_s;
  if (AreFree(store, gang)) return Open(store, gang);
  if (store.now_s > claim.left_s + store.settings.settle_s)
    GiveUp(store, gang, ClaimEnd::kSeatsLost, "a GPU reserved for the gang did not become free", false);
}

void EndClaim(GangStore& store, GangRecord& gang, ClaimEnd end) {
  ++store.claims_ended[static_cast<std::size_t>(end)];
  gang.plan->claim.reset();
  LetGo(store, gang.membership.id);
  store.replan = true;
}

void RefuseClaim(GangStore& store, const std::string& claimant) {
  const auto gang = store.gangs.find(claimant);
  if (gang == store.gangs.end() || !gang->second.plan || !gang->second.plan->claim) return;
  gang->second.plan->claim->forbidden = true;
}

void FindClaims(GangStore& store) {
  std::map<std::string, std::vector<std::string>> by_key;  // ids of gangs
  for (const auto& [id, gang] : store.gangs) by_key[VictimKeyOf(gang.membership)].push_back(id);
  for (const auto& [claimant, gang] : store.gangs) {
    for (const Pod* pod : PodsOf(store, gang)) {
      const auto reservation = ReservationOn(*pod);
      if (!reservation || !reservation->left) continue;
      for (const auto& [key, left] : reservation->left->gangs) {
        bool stays = false;
        for (const std::string& id : by_key[key]) {
          if (!reservation->claims || !HasOldPods(store, store.gangs.at(id), reservation->left->at_s))
            continue;
          store.held[id] = claimant;
          stays = true;
        }
        if (!stays) Recall(store, left.mark, {.at_s = reservation->left->at_s, .since_s = left.since_s});
      }
    }
  }
}

Claim RecoveredClaim(const GangStore& store, const std::string& claimant) {
  Claim claim;
  claim.recovered = true;
  for (const auto& [victim, by] : store.held) {
    if (by == claimant) claim.victims.push_back(victim);
  }
  return claim;
}

void LetGo(GangStore& store, const std::string& claimant) {
  std::erase_if(store.held, [&](const auto& entry) {
    if (entry.second == claimant) store.dirty.insert(entry.first);
    return entry.second == claimant;
  });
}

}  // namespace crossover::extender
