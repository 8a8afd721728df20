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

std::vector<const Pod*> BoundPods(const Desk& desk, const GangRecord& gang) {
  std::vector<const Pod*> pods;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, uid, member);
    if (view.bound()) pods.push_back(view.pod);
  }
  return pods;
}

// Records an event on each bound pod of the gang, as far as there is room for events.
void TellPods(Desk& desk, const GangRecord& gang) {
  for (const Pod* pod : BoundPods(desk, gang)) {
    if (desk.tell_room == 0) return;
    --desk.tell_room;
    desk.actions.push_back({.kind = Action::Kind::kTell,
                            .pod = {.uid = pod->uid, .name_space = pod->name_space, .name = pod->name},
                            .text = gang.departure->words,
                            .reason = "MakesRoom",
                            .warning = true});
  }
}

// Ends a departure that a disruption budget forbids. Pods that were evicted already come again beside those
// that stay: their seats are kept.
void Stay(Desk& desk, GangRecord& gang) {
  const std::string claimant = gang.departure->claimant;
  RefuseClaim(desk, claimant);
  const bool some = std::ranges::any_of(gang.members, [](const auto& entry) { return entry.second.evicted; });
  if (!some) desk.made_room.erase(MarkOf(gang.membership));
  for (auto& [uid, member] : gang.members) member.doomed = false;
  gang.removal = {};
  gang.departure.reset();
  desk.dirty.insert(claimant);
  desk.dirty.insert(gang.membership.id);
  desk.Say(gang, "");
}

}  // namespace

std::string WhyTheyMayNotLeave(const Desk& desk, std::span<const std::string> gangs) {
  std::vector<const Pod*> pods;
  for (const std::string& id : gangs) {
    const auto gang = desk.gangs.find(id);
    if (gang == desk.gangs.end()) continue;
    const std::vector<const Pod*> its = BoundPods(desk, gang->second);
    pods.insert(pods.end(), its.begin(), its.end());
  }
  return WhyForbidden(*desk.world, pods);
}

void BeginDeparture(Desk& desk, GangRecord& gang, const GangRecord& claimant) {
  const std::string who = NameFor(claimant, gang);
  gang.departure = Departure{.claimant = claimant.membership.id,
                             .words = "it makes room for " + who +
                                      ", of a higher PriorityClass: all pods of its gang are evicted; those "
                                      "that come again keep its place in the queue"};
  gang.removal = {};
  desk.dirty.insert(gang.membership.id);
}

void Depart(Desk& desk, GangRecord& gang) {
  Departure& departure = *gang.departure;
  desk.Say(gang, departure.words);
  desk.dirty.insert(departure.claimant);
  if (departure.state == Departure::State::kEvicting) {
    const bool settled = Remove(desk, gang);
    if (gang.removal.state == RemovalState::kForbidden) return settled ? Stay(desk, gang) : void();
    if (!std::exchange(departure.told, true)) {
      NoteMadeRoom(desk, gang);
      TellPods(desk, gang);
    }
    if (!settled) return;
    departure.state = Departure::State::kTerminating;
  }
  const Head head = CountOf(desk, gang);
  if (head.bound + head.leaving > 0) return;
  ++desk.gangs_left;
  gang.departure.reset();
  gang.removal = {};
  desk.Say(gang, "");
  desk.replan = true;
  desk.dirty.insert(gang.membership.id);
}

}  // namespace crossover::extender
