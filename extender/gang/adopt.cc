#include "extender/gang/adopt.h"

#include <algorithm>

#include "common/base/names.h"
#include "extender/gang/grants.h"
#include "extender/gang/need.h"
#include "extender/gang/request.h"
#include "extender/gang/room.h"

namespace crossover::extender {
namespace {

// A continued plan still gets at least this many seconds from the new leader.
constexpr double kGraceS = 30;
// Within this many seconds after a plan's deadline, its leader has deleted the plan's bound pods. In that
// time it reads the gang's size once more, and the API server may ask it to send no requests.
constexpr double kEndedWithinS = 180;

// A Found sums up what one plan left on the pods of a gang.
struct Found {
  int reserved = 0;  // pods with its reservation that are not bound and stay
  int left = 0;      // pods with its reservation that are not bound and terminate: they gave up their seats
  int bound = 0;
  bool lifted = false;        // the gate of a pod that is not bound is lifted
  std::optional<bool> again;  // Reservation::again, if some reservation has it
  double until_s = 0;
  int size = 0;                        // of the plan, by the reservations; 0: they do not say
  bool claims = false;                 // other gangs still had the GPUs
  placement::Bytes granted = 0;        // of each GPU's memory to its pods
  std::optional<ShrinkChosen> chosen;  // for its pods
  std::optional<Left> made_room;       // the gangs that left, if some reservation says so
};

// Returns what each plan left on the pods, by the plan's id.
std::map<std::string, Found> PlansOn(const GangStore& store, const GangRecord& gang) {
  std::map<std::string, Found> plans;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
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
    found.claims |= reservation->claims;
    found.granted = std::max(found.granted, GrantedOn(*view.pod));
    if (!found.chosen) found.chosen = LevelOn(*view.pod);
    if (reservation->left) found.made_room = reservation->left;
  }
  return plans;
}

GangPlan PlanOf(const GangStore& store, GangRecord& gang, const std::string& id, const Found& found,
                int need) {
  const GangSettings& settings = store.settings;
  GangPlan plan{.id = id, .entries = {}};
  plan.size = found.size > 0 ? found.size : need;
  plan.done = CountOf(store, gang).done;
  plan.until_s = std::clamp(found.until_s, store.now_s + std::min(kGraceS, settings.deadline_s),
                            store.now_s + settings.deadline_s);
  if (!found.claims) plan.Note(PlanEvent::kAllReserved);
  plan.left = found.made_room;
  if (found.claims) plan.claim = RecoveredClaim(store, gang.membership.id);
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living() || (view.leaving() && !view.bound())) continue;
    const auto reservation = ReservationOn(*view.pod);
    if (!reservation || reservation->plan != id) continue;
    if (!view.bound()) {
      member.seat = reservation->seat;
      member.message = view.pod->scheduled.message;
      member.maybe_reserved = true;
      member.Note(PodEvent::kReserved);
    }
    plan.entries.push_back(
        {.seat = {reservation->seat.node, reservation->seat.gpus()}, .uid = uid, .of = member.rank});
  }
  return plan;
}

// Returns whether the bound pods prove that the gang was complete. At its deadline `until_s` an incomplete
// plan's bound pods are deleted. These pods survived, so the gang was complete, unless a pod has waited
// since then.
bool OutlivedTheirPlan(const GangStore& store, const GangRecord& gang, double until_s) {
  const double ended_s = until_s + kEndedWithinS;
  if (until_s <= 0 || store.now_s <= ended_s) return false;
  return std::ranges::none_of(gang.members, [&](const auto& entry) {
    const View view = ViewOf(store, entry.first, entry.second);
    return view.living() && !view.bound() && view.pod->created_s <= ended_s;
  });
}

bool BoundByAnother(const GangStore& store, const GangRecord& gang, const std::string& id) {
  return std::ranges::any_of(gang.members, [&](const auto& entry) {
    const View view = ViewOf(store, entry.first, entry.second);
    if (!view.bound() || view.leaving()) return false;
    const auto reservation = ReservationOn(*view.pod);
    return !reservation || reservation->plan != id;
  });
}

// Returns GangRecord::ended_before, as the reservations tell it.
int EndedBefore(const GangRecord& gang, const std::map<std::string, Found>& plans, int least) {
  int size = 0;
  for (const auto& [id, found] : plans) size = std::max(size, found.size);
  const int ended = gang.membership.size - least;
  return size == 0 ? 0 : std::clamp(gang.membership.size - size, 0, ended);
}

// Continues the plan of an earlier leader that is furthest, or says whether the gang was complete if there is
// none. `bound` is the number of bound pods.
void AdoptPlan(GangStore& store, GangRecord& gang, const std::map<std::string, Found>& plans, int bound) {
  const int need = NeedOf(store, gang, CountOf(store, gang));
  const int least = std::max(1, LeastOf(store, gang, need));
  const Found* best = nullptr;
  const std::string* id = nullptr;
  for (const auto& [plan, found] : plans) {
    if (found.reserved == 0 && (found.bound == 0 || found.left == 0)) continue;
    // A claim makes no gang leave before all reservations are there. Its pods have no gates if these were
    // lifted for autoscalers.
    const bool begun = !found.claims && (found.lifted || found.bound > 0);
    // An elastic gang may have claimed for fewer pods than it has.
    const bool few = found.claims && found.reserved == found.size && found.reserved >= least;
    const bool sound = begun || found.reserved == need || few;
    if (sound && (best == nullptr || found.reserved > best->reserved)) best = &found, id = &plan;
  }
  const bool again = std::ranges::any_of(plans, [](const auto& entry) { return entry.second.again == true; });
  if (best == nullptr) {
    // A gang that has grown since was complete at the size of its plan.
    const bool whole = std::ranges::any_of(plans, [](const auto& entry) {
      return entry.second.size > 0 && entry.second.bound >= entry.second.size;
    });
    double until_s = 0;
    for (const auto& [plan, found] : plans) until_s = std::max(until_s, found.bound > 0 ? found.until_s : 0);
    if (again || whole || bound >= need || (bound > 0 && OutlivedTheirPlan(store, gang, until_s)))
      gang.NotePlaced();
    return;
  }
  gang.plan = PlanOf(store, gang, *id, *best, need);
  // If a member is bound by another plan, this plan is for members that came again. Whether the gang was ever
  // complete, reservations say (`again`). If a leader of an older version wrote them, they do not say it, and
  // the gang counts as complete.
  gang.plan->whole = !BoundByAnother(store, gang, *id);
  // Pods that replace those of the plan get as much: the profile may have changed since, and gangs beside
  // them count on it.
  gang.granted = best->granted;
  gang.chosen = best->chosen;
  if (!gang.plan->whole && (again || best->again.value_or(true))) gang.NotePlaced();
}

}  // namespace

void Adopt(GangStore& store, GangRecord& gang) {
  gang.adopted = true;
  int bound = 0;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (view.pod == nullptr) continue;
    member.version = view.pod->version;
    member.maybe_reserved = view.pod->annotations.contains(base::kReservationAnnotation);
    if (!view.bound()) continue;
    ++bound;
    member.bound_s = store.now_s;
  }
  const auto plans = PlansOn(store, gang);
  const int need = NeedOf(store, gang, CountOf(store, gang));
  gang.ended_before = EndedBefore(gang, plans, LeastOf(store, gang, need));
  AdoptPlan(store, gang, plans, bound);
  if (!gang.plan || !gang.plan->claim) LetGo(store, gang.membership.id);
}

}  // namespace crossover::extender
