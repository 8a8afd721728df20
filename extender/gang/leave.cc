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

// Returns the ids of the gangs that are to leave for others. Their departures need not have begun.
std::set<std::string> ClaimedOf(const Desk& desk) {
  std::set<std::string> claimed;
  for (const auto& [id, gang] : desk.gangs) {
    if (gang.plan && gang.plan->claim)
      claimed.insert(gang.plan->claim->victims.begin(), gang.plan->claim->victims.end());
  }
  return claimed;
}

Leave LeaveOf(Desk& desk, const GangRecord& gang, std::optional<double> started_s) {
  const std::string& id = gang.membership.id;
  if (!IsSteady(desk, gang)) return Leave::kNever;
  const double until_s = SparedUntil(desk, gang, started_s);
  if (until_s > desk.now_s) {
    const double first_s = desk.spared_until_s;
    desk.spared_until_s = first_s == 0 ? until_s : std::min(first_s, until_s);
    return Leave::kSpared;
  }
  return WhyTheyMayNotLeave(desk, {&id, 1}).empty() ? Leave::kMay : Leave::kForbidden;
}

}  // namespace

bool IsSteady(const Desk& desk, const GangRecord& gang) {
  if (!gang.adopted || !gang.placed || gang.plan || gang.departure || !gang.vacant.empty()) return false;
  if (gang.membership.size == 0 || desk.held.contains(gang.membership.id)) return false;
  const Head head = CountOf(desk, gang);
  const int need = NeedOf(desk, gang, head);
  return need > 0 && head.leaving == 0 && head.bound >= need;
}

void MarkWhoMayLeave(Desk& desk, std::span<const placement::Gang> waiting, placement::State* state) {
  desk.spared_until_s = 0;
  if (!desk.settings.preemption) return;
  std::optional<std::int32_t> highest;
  for (const placement::Gang& gang : waiting) {
    if (gang.preempts) highest = std::max(highest.value_or(gang.rank), gang.rank);
  }
  if (!highest) return;
  const std::set<std::string> claimed = ClaimedOf(desk);
  for (placement::Placed& placed : state->placed) {
    const auto gang = desk.gangs.find(placed.gang.id);
    if (gang == desk.gangs.end() || placed.gang.rank >= *highest || claimed.contains(placed.gang.id))
      continue;
    placed.leave = LeaveOf(desk, gang->second, placed.started_s);
  }
}

}  // namespace crossover::extender
