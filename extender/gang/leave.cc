#include "extender/gang/leave.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "extender/gang/departure.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"

namespace crossover::extender {
namespace {

using placement::Leave;

// Returns the ids of the gangs that must leave for others. Their departures need not have begun.
std::set<std::string> ClaimedOf(const GangStore& store) {
  std::set<std::string> claimed;
  for (const auto& [id, gang] : store.gangs) {
    if (gang.plan && gang.plan->claim)
      claimed.insert(gang.plan->claim->victims.begin(), gang.plan->claim->victims.end());
  }
  return claimed;
}

Leave LeaveOf(GangStore& store, const GangRecord& gang, std::optional<double> started_s) {
  const std::string& id = gang.membership.id;
  if (!IsSteady(store, gang)) return Leave::kNever;
  const double until_s = SparedUntil(store, gang, started_s);
  if (until_s > store.now_s) {
    const double first_s = store.spared_until_s;
    store.spared_until_s = first_s == 0 ? until_s : std::min(first_s, until_s);
    return Leave::kSpared;
  }
  return WhyTheyMayNotLeave(store, {&id, 1}).empty() ? Leave::kMay : Leave::kForbidden;
}

}  // namespace

bool IsSteady(const GangStore& store, const GangRecord& gang) {
  if (!gang.adopted || !gang.placed() || gang.plan || gang.departure || !gang.vacant.empty()) return false;
  if (gang.membership.size == 0 || store.held.contains(gang.membership.id)) return false;
  const Head head = CountOf(store, gang);
  const int need = NeedOf(store, gang, head);
  return need > 0 && head.leaving == 0 && head.bound >= need;
}

void MarkWhoMayLeave(GangStore& store, std::span<const placement::Gang> waiting, placement::State* state) {
  store.spared_until_s = 0;
  if (!store.settings.preemption) return;
  std::optional<std::int32_t> highest;
  for (const placement::Gang& gang : waiting) {
    if (gang.preempts) highest = std::max(highest.value_or(gang.rank), gang.rank);
  }
  if (!highest) return;
  const std::set<std::string> claimed = ClaimedOf(store);
  for (placement::Placed& placed : state->placed) {
    const auto gang = store.gangs.find(placed.gang.id);
    if (gang == store.gangs.end() || placed.gang.rank >= *highest || claimed.contains(placed.gang.id))
      continue;
    placed.leave = LeaveOf(store, gang->second, placed.started_s);
  }
}

}  // namespace crossover::extender
