#include "extender/gang/replacement.h"

#include <algorithm>
#include <functional>
#include <set>

#include "extender/gang/containers.h"
#include "extender/gang/demands.h"
#include "extender/gang/planner.h"
#include "extender/gang/request.h"
#include "extender/gang/snapshot.h"
#include "extender/placement/engine.h"
#include "extender/placement/memory.h"
#include "extender/placement/sets.h"

namespace crossover::extender {
namespace {

using GpuSet = std::set<std::pair<std::string, std::string>>;  // name of the node, UUID of the GPU

GpuSet SetOf(const std::vector<placement::Seat>& seats) {
  GpuSet set;
  for (const placement::Seat& seat : seats) {
    for (const std::string& gpu : seat.gpus) set.emplace(seat.node, gpu);
  }
  return set;
}

bool Overlap(const GpuSet& a, const GpuSet& b) {
  return std::ranges::any_of(a, [&b](const auto& gpu) { return b.contains(gpu); });
}

// Returns the GPUs of all bound members and of the plan.
GpuSet Taken(const GangStore& store, const GangRecord& gang) {
  std::vector<placement::Seat> seats;
  for (const auto& [uid, member] : gang.members) {
    if (!ViewOf(store, uid, member).bound()) continue;
    const PodSeat seat = SeatOf(store, gang, uid);
    seats.push_back({seat.node, seat.gpus()});
  }
  if (gang.plan) {
    for (const PlanEntry& slot : gang.plan->entries) seats.push_back(slot.seat);
  }
  return SetOf(seats);
}

// Returns whether the entry is a gang that stays. Returns false for an entry of a pod without a gang, or of
// members that terminate.
bool IsGang(const GangStore& store, const placement::Placed& placed) {
  return store.gangs.contains(placed.gang.id);
}

// Returns whether `placed`, which has the GPUs `theirs`, overlaps the set `all` and could not have the same
// set once neither gang lacks a seat.
bool Conflict(const GpuSet& all, const placement::Placed& placed, const GpuSet& theirs) {
  const bool same = placed.gang.gpus() == static_cast<int>(all.size()) && std::ranges::includes(all, theirs);
  return Overlap(all, theirs) && !same;
}

// Returns whether the gang has a limit of GPU memory.
bool HasBound(const GangStore& store, const placement::State& state, const std::string& id) {
  const auto placed =
      std::ranges::find(state.placed, id, [](const placement::Placed& one) { return one.gang.id; });
  return placed != state.placed.end() && placement::CapOf(placed->gang, store.settings.placement) > 0;
}

// Returns whether the seat is still the gang's: a kubelet may have given its GPUs to another pod. Other gangs
// may be on these GPUs only if they have the same set of GPUs and both gangs have memory limits.
bool OursAlone(const GangStore& store, const GangRecord& gang, const placement::State& state,
               const placement::Seat& seat) {
  const GpuSet wanted = SetOf({seat});
  if (Overlap(wanted, Taken(store, gang))) return false;
  GpuSet all = SetOf(SeatsOf(store, gang, false));
  all.insert(wanted.begin(), wanted.end());
  const bool bound = HasBound(store, state, gang.membership.id);
  return std::ranges::none_of(state.placed, [&](const placement::Placed& placed) {
    if (placed.gang.id == gang.membership.id) return false;
    const GpuSet theirs = SetOf(placed.seats);
    if (!IsGang(store, placed)) return Overlap(wanted, theirs);
    if (Conflict(all, placed, theirs)) return true;
    return Overlap(wanted, theirs) && !(bound && HasBound(store, state, placed.gang.id));
  });
}

// Returns the number of other gangs that have the GPU, or are promised it.
int ClientsOf(const placement::State& state, const std::string& id, const std::string& node,
              const std::string& uuid) {
  return static_cast<int>(std::ranges::count_if(state.placed, [&](const placement::Placed& placed) {
    return placed.gang.id != id && SetOf(placed.seats).contains({node, uuid});
  }));
}

// Returns whether a pod of the gang can have the seat now: it is still the gang's, its node is open and not
// excluded, and its GPUs are healthy and have a slot left.
bool Usable(const GangStore& store, const GangRecord& gang, const placement::State& state,
            const placement::Seat& seat) {
  if (!OursAlone(store, gang, state, seat)) return false;
  const auto excluded = gang.excluded.find(seat.node);
  if (excluded != gang.excluded.end() && store.now_s < excluded->second.until_s) return false;
  const auto node = std::ranges::find(state.nodes, seat.node, &placement::Node::name);
  if (node == state.nodes.end() || !node->open) return false;
  return std::ranges::all_of(seat.gpus, [&](const std::string& uuid) {
    const auto gpu = std::ranges::find(node->gpus, uuid, &placement::Gpu::uuid);
    return gpu != node->gpus.end() && gpu->healthy &&
           ClientsOf(state, gang.membership.id, seat.node, uuid) < gpu->slots;
  });
}

// Removes vacant seats that cannot be used any more: a kubelet gave their GPUs to another gang, the gang
// itself uses them, or they have another number of GPUs than a pod needs.
void ForgetGivenAway(const GangStore& store, GangRecord& gang, const placement::State& state,
                     int gpus_per_pod) {
  const GpuSet taken = Taken(store, gang);
  const GpuSet all = SetOf(SeatsOf(store, gang, false));
  std::erase_if(gang.vacant, [&](const Vacancy& vacancy) {
    const GpuSet wanted = SetOf({vacancy.seat});
    if (static_cast<int>(wanted.size()) != gpus_per_pod || Overlap(wanted, taken)) return true;
    return std::ranges::any_of(state.placed, [&](const placement::Placed& placed) {
      if (placed.gang.id == gang.membership.id || !IsGang(store, placed)) return false;
      return Conflict(all, placed, SetOf(placed.seats));
    });
  });
}

const Pod* AnyPod(const GangStore& store, const GangRecord& gang) {
  for (const auto& [uid, member] : gang.members) {
    if (const Pod* pod = store.cache->FindPod(uid)) return pod;
  }
  return nullptr;
}

// Returns the seats that gangs on the same GPUs have and this gang lacks; none if this gang has no GPUs. Sets
// `meets` to true if a gang is on the same GPUs. Skips gangs without a memory limit: no plan puts them beside
// others, so a kubelet must have done it.
std::vector<placement::Seat> PeerSeats(const GangStore& store, const placement::State& state,
                                       const std::string& id, const GpuSet& mine, int gpus_per_pod,
                                       bool* meets) {
  std::vector<placement::Seat> more;
  if (mine.empty()) return more;
  for (const placement::Placed& placed : state.placed) {
    if (placed.gang.id == id || placed.gang.id == id + " (leaving)") continue;
    const GpuSet theirs = SetOf(placed.seats);
    GpuSet common;
    std::ranges::set_intersection(mine, theirs, std::inserter(common, common.end()));
    *meets |= !common.empty();
    if (!HasBound(store, state, id) || !HasBound(store, state, placed.gang.id)) continue;
    // Both sets together must not exceed the size of a gang: each gang may have GPUs that the other lacks.
    if (common.empty() || static_cast<int>(mine.size() + theirs.size() - common.size()) > placed.gang.gpus())
      continue;
    std::map<std::string, std::vector<std::string>> by_node;
    for (const auto& [node, gpu] : theirs) {
      if (!mine.contains({node, gpu})) by_node[node].push_back(gpu);
    }
    for (auto& [node, gpus] : by_node) {
      if (static_cast<int>(gpus.size()) < gpus_per_pod) continue;
      gpus.resize(static_cast<std::size_t>(gpus_per_pod));
      more.push_back({node, gpus});
    }
  }
  return more;
}

// Marks these GPUs as unusable, because they are kept for another gang.
void TakeOut(const std::vector<placement::Seat>& seats, placement::State* state) {
  const GpuSet taken = SetOf(seats);
  for (placement::Node& node : state->nodes) {
    for (placement::Gpu& gpu : node.gpus) gpu.healthy &= !taken.contains({node.name, gpu.uuid});
  }
}

// Returns the largest number of topology labels that the node shares with one of `theirs`. For a node of
// `theirs` it is one more than its number of labels.
std::size_t NearnessOf(const placement::Node& node, const std::vector<const placement::Node*>& theirs) {
  std::size_t nearest = 0;
  for (const placement::Node* other : theirs) {
    if (other->name == node.name) return node.domains.size() + 1;
    const auto [mine, its] = std::ranges::mismatch(node.domains, other->domains);
    nearest = std::max(nearest, static_cast<std::size_t>(mine - node.domains.begin()));
  }
  return nearest;
}

// Returns NearnessOf() each node of the state, in their order, to the nodes of the gang.
std::vector<std::size_t> NearnessTo(const GpuSet& mine, const placement::State& state) {
  std::vector<const placement::Node*> theirs;
  for (const placement::Node& node : state.nodes) {
    const auto first = mine.lower_bound({node.name, ""});
    if (first != mine.end() && first->first == node.name) theirs.push_back(&node);
  }
  std::vector<std::size_t> nearness;
  for (const placement::Node& node : state.nodes) nearness.push_back(NearnessOf(node, theirs));
  return nearness;
}

// Returns whether the gang may choose new GPUs although it shares. All gangs on its GPUs must have its
// size, lack what it lacks, and keep no seat for it any more. They then follow the first gang that finds
// new GPUs.
bool MayLead(const GangStore& store, const placement::State& state, const std::string& id, const GpuSet& mine,
             int gpus_per_pod) {
  const auto me = std::ranges::find(state.placed, id, [](const auto& placed) { return placed.gang.id; });
  if (me == state.placed.end() || !HasBound(store, state, id)) return false;
  const int all = me->gang.gpus();
  if (static_cast<int>(mine.size()) + gpus_per_pod > all) return false;
  return std::ranges::all_of(state.placed, [&](const placement::Placed& placed) {
    const GpuSet theirs = SetOf(placed.seats);
    if (placed.gang.id == id || !Overlap(mine, theirs)) return true;
    return IsGang(store, placed) && HasBound(store, state, placed.gang.id) && placed.gang.gpus() == all &&
           std::ranges::includes(mine, theirs);
  });
}

// Marks GPUs as unusable that have less memory or fewer slots than a GPU of `mine`. If several users can
// share a GPU of `mine`, GPUs that only one user can share are unusable, too. The gangs that share a GPU of
// `mine` might not all fit on these.
void TakeOutLesser(const GpuSet& mine, placement::State* state) {
  placement::Gpu most;
  bool many_users = false;
  for (const placement::Node& node : state->nodes) {
    for (const placement::Gpu& gpu : node.gpus) {
      if (!mine.contains({node.name, gpu.uuid})) continue;
      most.memory = std::max(most.memory, gpu.memory);
      most.slots = std::max(most.slots, gpu.slots);
      many_users |= !node.one_user;
    }
  }
  for (placement::Node& node : state->nodes) {
    for (placement::Gpu& gpu : node.gpus)
      gpu.healthy &= gpu.memory >= most.memory && gpu.slots >= most.slots && !(many_users && node.one_user);
  }
}

// Returns free GPUs for one pod, the nearest first. If there are none, sets `why`.
std::optional<placement::Seat> AnyFree(const GangStore& store, const GangRecord& gang, const GpuSet& mine,
                                       const placement::State& state, const Pod& pod, std::string* why) {
  Request request = RequestOf(gang.membership, std::vector<const Pod*>{&pod}, 1, *store.cache);
  placement::State apart = state;
  for (placement::Placed& placed : apart.placed) {
    if (placed.gang.id == gang.membership.id) placed.gang.id += " (here)";
  }
  if (store.kept && store.kept->gang != gang.membership.id) TakeOut(store.kept->gpus, &apart);
  request.gang.exclusive = true;
  std::vector<placement::Gang> waiting = {request.gang};
  SetDivisions(store, apart, waiting);
  const placement::Fitness fits = FitnessOf(store, apart);
  const std::vector<std::size_t> nearness = NearnessTo(mine, state);
  const std::set<std::size_t, std::greater<>> levels(nearness.begin(), nearness.end());
  const std::size_t least = mine.empty() ? 0 : placement::LevelOf(state, request.gang).value_or(0);
  for (const std::size_t level : levels) {
    if (level < least) {
      *why = "no place for a further pod on nodes with the same " + request.gang.within;
      break;
    }
    for (std::size_t node = 0; node < nearness.size(); ++node) {
      apart.nodes[node].open = state.nodes[node].open && nearness[node] >= level;
    }
    const placement::Decision decision =
        placement::Decide(apart, waiting, store.now_s, store.settings.placement, fits);
    if (!decision.plans.empty() && decision.plans.front().seats.size() == 1) {
      return decision.plans.front().seats.front();
    }
    if (!decision.refusals.empty()) *why = decision.refusals.front().text;
  }
  return std::nullopt;
}

// Takes a usable vacant seat out of the gang and returns it, or returns nothing if there is none. Prefers the
// seat of a pod in whose place a waiting pod comes.
std::optional<Vacancy> TakeVacant(const GangStore& store, GangRecord& gang, const placement::State& state) {
  std::vector<PodRank> ranks;
  for (const std::string& uid : Seatless(store, gang)) ranks.push_back(gang.members.at(uid).rank);
  for (const bool any : {false, true}) {
    for (auto vacancy = gang.vacant.begin(); vacancy != gang.vacant.end(); ++vacancy) {
      const auto is_for = [&](const PodRank& rank) { return vacancy->of && StandsFor(*vacancy->of, rank); };
      if (!any && std::ranges::none_of(ranks, is_for)) continue;
      if (!Usable(store, gang, state, vacancy->seat)) continue;
      Vacancy taken = *vacancy;
      gang.vacant.erase(vacancy);
      return taken;
    }
  }
  return std::nullopt;
}

}  // namespace

bool KeptLongEnough(const GangStore& store, const GangRecord& gang) {
  return store.now_s > gang.vacant_s + store.settings.seats_kept_s;
}

std::optional<PlanEntry> FindSeat(GangStore& store, GangRecord& gang, std::string* why) {
  const placement::State state = SnapshotOf(store);
  const Pod* pod = AnyPod(store, gang);
  if (pod == nullptr) return std::nullopt;
  ForgetGivenAway(store, gang, state, GpusWanted(*pod));
  if (std::optional<Vacancy> vacancy = TakeVacant(store, gang, state))
    return PlanEntry{.seat = std::move(vacancy->seat), .uid = "", .of = std::move(vacancy->of)};
  GpuSet mine = SetOf(SeatsOf(store, gang, false));
  mine.merge(SetOf(SeatsOf(store, gang, true)));
  bool meets = false;
  for (placement::Seat& seat : PeerSeats(store, state, gang.membership.id, mine, GpusWanted(*pod), &meets)) {
    if (Usable(store, gang, state, seat)) return PlanEntry{.seat = std::move(seat), .uid = ""};
  }
  placement::State free_for = state;
  if (meets) {
    if (!MayLead(store, state, gang.membership.id, mine, GpusWanted(*pod))) {
      // Other gangs on these GPUs may lack the same seat, and wait while this gang keeps it. So the gang
      // gives up a vacant seat that it could not use for `seats_kept_s`.
      if (!gang.vacant.empty() && KeptLongEnough(store, gang)) {
        gang.vacant.clear();
        store.replan = true;
      }
      *why = "its place among the jobs on its GPUs cannot be used now";
      return std::nullopt;
    }
    TakeOutLesser(mine, &free_for);
  }
  std::optional<placement::Seat> free = AnyFree(store, gang, mine, free_for, *pod, why);
  // The new seat replaces a vacant one that could not be used.
  if (free && !gang.vacant.empty()) gang.vacant.erase(gang.vacant.begin());
  if (!free) return std::nullopt;
  return PlanEntry{.seat = std::move(*free), .uid = ""};
}

}  // namespace crossover::extender
