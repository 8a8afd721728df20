#include "extender/gang/adopt.h"

#include <algorithm>

#include "common/base/names.h"

namespace crossover::extender {
namespace {

// A plan that was all but over gets this long to be carried out by a new leader.
constexpr double kGraceS = 30;
// After its time, until the bound pods of a plan are deleted: its gang's size is asked for once more, and an
// API server may want to be left alone.
constexpr double kEndedWithinS = 180;

struct Found {
  int reserved = 0;  // not bound, and staying
  int left = 0;      // not bound, and on the way out: these have left their seats already
  int bound = 0;
  bool lifted = false;
  std::optional<bool> again;  // as it says, where it does
  double until_s = 0;
  int size = 0;  // of the gang, as it says
};

// What each plan left on the pods.
std::map<std::string, Found> PlansOn(const Desk& desk, const GangRecord& gang) {
  std::map<std::string, Found> plans;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (!view.living()) continue;
    const auto reservation = ReservationOn(*view.pod);
    if (!reservation) continue;
    Found& found = plans[reservation->plan];
    ++(view.bound() ? found.bound : view.leaving() ? found.left : found.reserved);
    found.lifted |= !view.bound() && !view.gated();
    if (reservation->again && !view.leaving())
      found.again = found.again.value_or(false) || *reservation->again;
    found.until_s = std::max(found.until_s, reservation->until_s);
    found.size = std::max(found.size, reservation->size);
  }
  return plans;
}

GangPlan PlanOf(const Desk& desk, GangRecord& gang, const std::string& id, const Found& found) {
  const GangSettings& settings = desk.settings;
  GangPlan plan{.id = id, .slots = {}};
  plan.size = found.size > 0 ? found.size : gang.membership.size;
  plan.until_s = std::clamp(found.until_s, desk.now_s + std::min(kGraceS, settings.deadline_s),
                            desk.now_s + settings.deadline_s);
  plan.open = true;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (!view.living() || (view.leaving() && !view.bound())) continue;
    const auto reservation = ReservationOn(*view.pod);
    if (!reservation || reservation->plan != id) continue;
    if (!view.bound()) {
      member.seat = reservation->seat;
      member.message = view.pod->scheduled.message;
      member.reserved = member.maybe_reserved = true;
    }
    plan.slots.push_back({{reservation->seat.node, reservation->seat.gpus()}, uid});
  }
  return plan;
}

// Whoever led when the plan of those that are bound ended would have deleted them, had they not been all. So
// they were, unless one that waits has done so since then.
bool OutlivedTheirPlan(const Desk& desk, const GangRecord& gang, double until_s) {
  const double ended_s = until_s + kEndedWithinS;
  if (until_s <= 0 || desk.now_s <= ended_s) return false;
  return std::ranges::none_of(gang.members, [&](const auto& entry) {
    const View view = ViewOf(desk, gang, entry.first);
    return view.living() && !view.bound() && view.pod->created_s <= ended_s;
  });
}

bool BoundByAnother(const Desk& desk, const GangRecord& gang, const std::string& id) {
  return std::ranges::any_of(gang.members, [&](const auto& entry) {
    const View view = ViewOf(desk, gang, entry.first);
    if (!view.bound() || view.leaving()) return false;
    const auto reservation = ReservationOn(*view.pod);
    return !reservation || reservation->plan != id;
  });
}

}  // namespace

void Adopt(Desk& desk, GangRecord& gang) {
  gang.adopted = true;
  int bound = 0;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (view.pod == nullptr) continue;
    member.version = view.pod->version;
    member.maybe_reserved = view.pod->annotations.contains(base::kReservationAnnotation);
    if (!view.bound()) continue;
    ++bound;
    member.bound_s = desk.now_s;
  }
  const Found* best = nullptr;
  const std::string* id = nullptr;
  const auto plans = PlansOn(desk, gang);
  for (const auto& [plan, found] : plans) {
    if (found.reserved == 0 && (found.bound == 0 || found.left == 0)) continue;
    const bool sound = found.lifted || found.bound > 0 || found.reserved == gang.membership.size;
    if (sound && (best == nullptr || found.reserved > best->reserved)) best = &found, id = &plan;
  }
  const bool again = std::ranges::any_of(plans, [](const auto& entry) { return entry.second.again == true; });
  if (best == nullptr) {
    // One that has grown since was whole all the same.
    const bool whole = std::ranges::any_of(plans, [](const auto& entry) {
      return entry.second.size > 0 && entry.second.bound >= entry.second.size;
    });
    double until_s = 0;
    for (const auto& [plan, found] : plans) until_s = std::max(until_s, found.bound > 0 ? found.until_s : 0);
    gang.placed = again || whole || bound >= gang.membership.size ||
                  (bound > 0 && OutlivedTheirPlan(desk, gang, until_s));
    return;
  }
  gang.plan = PlanOf(desk, gang, *id, *best);
  // Where some are bound by another plan, this one is of members that came again, perhaps to a gang that was
  // never whole: reservations say that, but for those of leaders who did not write it yet.
  gang.plan->whole = !BoundByAnother(desk, gang, *id);
  gang.placed = !gang.plan->whole && (again || best->again.value_or(true));
}

}  // namespace crossover::extender
