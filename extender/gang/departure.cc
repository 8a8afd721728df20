#include "extender/gang/departure.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/removal.h"
#include "extender/gang/room.h"

namespace crossover::extender {
namespace {

std::vector<const Pod*> BoundPods(const GangStore& store, const GangRecord& gang) {
  std::vector<const Pod*> pods;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (view.bound()) pods.push_back(view.pod);
  }
  return pods;
}

// Records an event on each bound pod of the gang, as far as there is room for events.
void TellPods(GangStore& store, const GangRecord& gang) {
  for (const Pod* pod : BoundPods(store, gang)) {
    if (store.tell_room == 0) return;
    --store.tell_room;
    store.actions.push_back({.kind = Action::Kind::kTell,
                             .pod = {.uid = pod->uid, .name_space = pod->name_space, .name = pod->name},
                             .text = gang.departure->words,
                             .reason = "MakesRoom",
                             .warning = true});
  }
}

// Ends a departure that a disruption budget forbids. Pods that were evicted already come again beside those
// that stay: their seats are kept.
void Stay(GangStore& store, GangRecord& gang) {
  const std::string claimant = gang.departure->claimant;
  RefuseClaim(store, claimant);
  const bool some =
      std::ranges::any_of(gang.members, [](const auto& entry) { return IsAccepted(entry.second.eviction); });
  if (!some) store.made_room.erase(MarkOf(gang.membership));
  for (auto& [uid, member] : gang.members) member.Note(EvictionEvent::kTakenBack);
  gang.removal = {};
  gang.departure.reset();
  store.dirty.insert(claimant);
  store.dirty.insert(gang.membership.id);
  store.Say(gang, "");
}

}  // namespace

std::string WhyTheyMayNotLeave(const GangStore& store, std::span<const std::string> gangs) {
  std::vector<const Pod*> pods;
  for (const std::string& id : gangs) {
    const auto gang = store.gangs.find(id);
    if (gang == store.gangs.end()) continue;
    const std::vector<const Pod*> its = BoundPods(store, gang->second);
    pods.insert(pods.end(), its.begin(), its.end());
  }
  return WhyForbidden(*store.cache, pods);
}

void BeginDeparture(GangStore& store, GangRecord& gang, const GangRecord& claimant) {
  const std::string who = NameFor(claimant, gang);
  gang.departure = Departure{.claimant = claimant.membership.id,
                             .words = "it makes room for " + who +
                                      ", of a higher PriorityClass: all pods of its gang are evicted; those "
                                      "that come again keep its place in the queue"};
  gang.removal = {};
  store.dirty.insert(gang.membership.id);
}

void Depart(GangStore& store, GangRecord& gang) {
  Departure& departure = *gang.departure;
  store.Say(gang, departure.words);
  store.dirty.insert(departure.claimant);
  if (departure.state == Departure::State::kEvicting) {
    const bool settled = Remove(store, gang);
    if (gang.removal.state == RemovalState::kForbidden) return settled ? Stay(store, gang) : void();
    if (!std::exchange(departure.told, true)) {
      NoteMadeRoom(store, gang);
      TellPods(store, gang);
    }
    if (!settled) return;
    departure.state = Departure::State::kTerminating;
  }
  const Head head = CountOf(store, gang);
  if (head.bound + head.leaving > 0) return;
  ++store.gangs_left;
  gang.departure.reset();
  store.Say(gang, "");
  store.replan = true;
  store.dirty.insert(gang.membership.id);
}

}  // namespace crossover::extender
