#include "extender/gang/reconcile.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/names.h"
#include "extender/gang/adopt.h"
#include "extender/gang/autoscalers.h"
#include "extender/gang/departure.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/owner_reading.h"
#include "extender/gang/plan_executor.h"
#include "extender/gang/planner.h"
#include "extender/gang/removal.h"
#include "extender/gang/replacement.h"
#include "extender/gang/request.h"
#include "extender/gang/reservation.h"
#include "extender/gang/room.h"
#include "extender/gang/snapshot.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;

constexpr int kMostDoublings = 5;      // of the pause between two events of a pod
constexpr double kToldForS = 1800;     // an event is repeated after this; API servers keep events for an hour
constexpr int kMostSeatDoublings = 3;  // of the pause between two searches for a seat, which begins at 1 s
constexpr int kMostTriesToTell = 3;  // to lift a gate together with what autoscalers are told by preferences
constexpr double kMorePodsS = 5;     // an elastic gang waits this long for more pods than its minimum
constexpr char kUndecided[] = "the extender looks for GPUs next";
constexpr char kEnded[] = "its job has ended, and no pod of the job gets a place any more";
constexpr char kHeld[] = "its gang must make room for a job of a higher PriorityClass";

std::string OwnerName(const OwnerRef& owner) { return owner.kind + " " + owner.name; }

void AskOwner(GangStore& store, GangRecord& gang) {
  const OwnerRef& owner = *gang.membership.owner;
  const std::string what = OwnerName(owner);
  const std::string& error = store.owners[owner].error;
  store.Say(gang, error.empty() ? "the size of its gang is not read yet from " + what
                                : "the size of its gang cannot be read from " + what + ": " + error);
  ReadOwnerOf(store, gang, store.settings.owner_every_s);
}

// Removes reservations from pods that are not bound. REQUIRES: the gang has no plan.
void WipeStale(GangStore& store, GangRecord& gang) {
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living() || view.bound() || !view.may_have_reservation()) continue;
    store.Begin(gang, uid, Kind::kClear, "", "");
  }
}

// Lifts the gates of all waiting pods once one of them has waited for long without a plan, so that
// autoscalers see them. If pods of a gang came one after the other, an autoscaler would take the free slots
// of the node that it made for the first ones for room for the others. A pod whose preferences an API server
// or a policy refuses loses its gate without them.
void Ungate(GangStore& store, GangRecord& gang) {
  if (store.settings.ungate_after_s < 0) return;
  std::vector<std::string> gated;
  bool late = false;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.waiting() || !view.gated() || !store.MayWrite(member)) continue;
    gated.push_back(uid);
    late |= store.now_s > view.pod->created_s + store.settings.ungate_after_s;
  }
  if (!late) return;
  const std::map<std::string, std::string> preferences = PreferencesOf(store, gang);
  for (const std::string& uid : gated) {
    const auto own = preferences.find(uid);
    const bool tell = own != preferences.end() && gang.members.at(uid).failures < kMostTriesToTell;
    Action* action = store.Begin(gang, uid, Kind::kRelease, "", "no plan");
    if (action != nullptr && tell) action->preferences = own->second;
  }
}

// Records in the annotations of two pods that the gang has run. Without that, the next leader cannot tell a
// gang that ran and lost a member from one that was never complete. The two pods are on different nodes if
// possible, because one of them may be lost next.
void RecordCompletion(GangStore& store, GangRecord& gang) {
  std::set<std::string> nodes;
  std::deque<std::string> uids;  // the first pods of their nodes come before the others
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.bound() || view.leaving()) continue;
    if (!view.current()) return;  // the watch does not show our last write to the pod yet
    const bool first = nodes.insert(view.node()).second;
    uids.insert(first ? uids.begin() : uids.end(), uid);
  }
  gang.completion = Completion::kRecorded;
  uids.resize(std::min<std::size_t>(uids.size(), 2));
  for (const std::string& uid : uids) {
    auto reservation = ReservationOn(*store.cache->FindPod(uid));
    // A pod without a reservation was bound by another program. For a gang of one pod, `size` says as much.
    if (!reservation || reservation->again == true || reservation->size == 1) continue;
    gang.NoteUnrecorded();
    reservation->again = true;
    store.Begin(gang, uid, Kind::kSettle, "", WriteReservation(*reservation));
  }
}

// Limits the places that are kept for pods that are gone, while no pod has come again. The gang keeps them
// for `seats_kept_s`, and keeps no more of them than it `lacks`: a job that shrank lacks none.
void KeepVacant(GangStore& store, GangRecord& gang, int lacks) {
  if (gang.vacant.empty()) return;
  DoubtSize(store, gang);
  const auto kept = static_cast<std::size_t>(KeptLongEnough(store, gang) ? 0 : std::max(lacks, 0));
  if (gang.vacant.size() <= kept) return;
  gang.vacant.resize(kept);
  store.replan = true;
}

// Returns why a pod waits although its gang lacks none: it replaces pods that terminate, or is one too many.
std::string WhyCrowded(const GangRecord& gang, const Head& head, int need) {
  if (head.bound < need) return "the pods that it replaces have not ended yet";
  const bool annotated = gang.membership.known == Known::kByAnnotation;
  return "its gang needs no more pods; bound pods: " + std::to_string(head.bound) +
         (annotated ? std::string("; is ") + base::kGangSizeAnnotation + " right?" : "");
}

// Finds seats for pods that came again. REQUIRES: some pods of the gang are bound, and it has no plan.
void Refill(GangStore& store, GangRecord& gang, const Head& head) {
  const int need = NeedOf(store, gang, head);
  gang.Widen(head.bound + static_cast<int>(gang.vacant.size()));
  if (head.bound >= need) gang.NotePlaced();
  if (gang.placed()) gang.removal = {};
  const int lacks = need - head.bound - head.leaving;
  const int missing = std::min(head.waiting, lacks);
  if (head.waiting == 0) {
    KeepVacant(store, gang, lacks);
    gang.crowded = false;
    gang.seat_failures = gang.asked = 0;
    return gang.lacking_s.reset();
  }
  gang.crowded = missing <= 0;
  if (gang.crowded) {
    DoubtSize(store, gang);
    if (HasEnded(store, gang)) return store.Say(gang, kEnded);
    return store.Say(gang, WhyCrowded(gang, head, need));
  }
  if (!gang.lacking_s) gang.lacking_s = store.now_s;
  std::vector<const Pod*> pods;
  for (const std::string& uid : Seatless(store, gang)) pods.push_back(store.cache->FindPod(uid));
  const Request request = RequestOf(gang.membership, pods, missing, *store.cache);
  gang.fault = request.fault;
  if (!request.fault.empty()) return store.Say(gang, request.fault);
  if (!gang.placed() &&
      store.now_s > std::max(*gang.lacking_s + store.settings.deadline_s, gang.removal.retry_s)) {
    if (!KnowsSizeNow(store, gang, &gang.asked)) return;
    // The gang was never complete, and its deadline is over: an empty plan that fails evicts the bound pods.
    StartPlan(store, gang, {}, true);
    return Fail(store, gang, "not all pods of the gang could be bound", false);
  }
  if (store.now_s < std::max(gang.seat_retry_s, gang.hold_until_s)) return;
  if (!store.MaySearch(gang)) return;
  std::string why = "no place for a further pod";
  if (std::optional<PlanEntry> entry = FindSeat(store, gang, &why)) {
    gang.seat_failures = 0;
    return StartPlan(store, gang, {std::move(*entry)}, false);
  }
  gang.seat_retry_s = store.now_s + (1 << std::min(gang.seat_failures++, kMostSeatDoublings));
  const std::string stays = WhyTheyStay(gang);
  store.Say(gang, "other pods of its gang run; " + why + (stays.empty() ? "" : "; " + stays));
}

// Returns whether too few pods wait for the gang to begin. An elastic gang begins with its minimum, once no
// pod has come for a while.
bool LacksPods(const GangStore& store, const GangRecord& gang, const Head& head, int need) {
  if (head.waiting >= need) return false;
  return head.waiting < LeastOf(store, gang, need) || store.now_s < head.newest_s + kMorePodsS;
}

std::string WhyIncomplete(const GangRecord& gang, const Head& head, int need, int least) {
  const int fewer = gang.membership.size - need;
  return "its gang " + gang.membership.name + " is not complete: " + std::to_string(head.waiting) + " of " +
         std::to_string(need) + " pods exist, do not terminate and have no other scheduling gate" +
         (least < need ? ", and it can begin with " + std::to_string(least) : "") +
         (fewer > 0 ? " (its size is " + std::to_string(gang.membership.size) +
                          "; done, failed for good or needed no more: " + std::to_string(fewer) + ")"
                    : "") +
         (gang.evicted_for.empty() ? "" : "; its bound pods were evicted: " + gang.evicted_for);
}

// Marks the gang as ready once all its pods wait, or says what is missing. REQUIRES: no pod is bound, and
// the gang has no plan.
void Gather(GangStore& store, GangRecord& gang, const Head& head) {
  gang.completion = Completion::kNever;
  gang.ended_before = 0;
  gang.removal = {};
  gang.granted.reset();
  gang.chosen.reset();
  gang.vacant.clear();
  const int need = NeedOf(store, gang, head);
  const Demand before = std::exchange(gang.demand, Demand::kNone);
  const bool asked = head.waiting != need && DoubtSize(store, gang) && head.waiting > need;
  if (!gang.membership.fault.empty()) {
    store.Say(gang, gang.membership.fault);
  } else if (LacksPods(store, gang, head, need)) {
    store.Say(gang, WhyIncomplete(gang, head, need, LeastOf(store, gang, need)));
  } else if (HasEnded(store, gang)) {
    store.Say(gang, kEnded);
  } else if (need == 0) {  // an owner says so, which is read again once the pause between reads is over
    store.Say(gang, "its gang needs no more pods, by what was read of " + OwnerName(*gang.membership.owner));
  } else if (asked) {
    store.Say(gang, "its gang has more pods than it needs, and the extender reads its size again now");
  } else if (store.now_s >= gang.hold_until_s) {
    gang.demand = before == Demand::kNone ? Demand::kAll : before;
    gang.evicted_for.clear();
    if (before != Demand::kNone) return;
    store.Say(gang, kUndecided);
    store.replan = true;  // nothing else sets it if the hold-off has ended
  }
}

// Records events on waiting pods that say why they wait, with growing pauses.
void Tell(GangStore& store, GangRecord& gang) {
  if (gang.text.empty() || gang.text == kUndecided || (gang.plan && !gang.plan->claim)) return;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living() || view.bound()) continue;
    if (member.told == gang.text && store.now_s < member.told_s + kToldForS) continue;
    const bool warning = !gang.membership.fault.empty() || !gang.fault.empty();  // its user must correct it
    const int doublings = warning ? 0 : std::clamp(member.tellings - 1, 0, kMostDoublings);
    const double pause_s = store.settings.tell_every_s * (1 << doublings);
    if (member.tellings > 0 && store.now_s < member.told_s + pause_s) continue;
    if (store.tell_room == 0) return;  // a gang that waits is checked again soon
    --store.tell_room;
    if (member.told != gang.text) ++member.tellings;
    member.told = gang.text;
    member.told_s = store.now_s;
    store.actions.push_back({.kind = Kind::kTell,
                             .pod = {.uid = uid, .name_space = view.pod->name_space, .name = view.pod->name},
                             .text = gang.text,
                             .reason = "GangWaits",
                             .warning = warning});
  }
}

// Records an event on one pod of a controller that makes several pods, and whose gang is not known. Operators
// do not pass the warning on that admission gives them.
void TellOfMaker(GangStore& store, const GangRecord& gang) {
  const auto maker = store.makers.find(gang.membership.maker.id);
  if (maker == store.makers.end() || maker->second.told || maker->second.pods.size() < 2) return;
  const Pod* pod = store.cache->FindPod(gang.members.begin()->first);
  if (pod == nullptr || store.tell_room == 0) return;
  --store.tell_room;
  maker->second.told = true;
  store.actions.push_back({.kind = Kind::kTell,
                           .pod = {.uid = pod->uid, .name_space = pod->name_space, .name = pod->name},
                           .text = AboutGang(gang.membership),
                           .reason = "GangNotKnown",
                           .warning = true});
}

// Answers the binds that have been held for `hold_s`, so that the scheduler's own deadline does not end them.
void AnswerLate(GangStore& store, GangRecord& gang, int need) {
  int here = 0;
  for (const auto& [uid, member] : gang.members)
    here += member.bind_handle || ViewOf(store, uid, member).bound() ? 1 : 0;
  for (auto& [uid, member] : gang.members) {
    if (!member.bind_handle || store.now_s < member.held_s + store.settings.hold_s) continue;
    store.Answer(member, kWaits + std::to_string(here) + " of " + std::to_string(need) +
                             " pods of its gang are bound or ready to be bound");
  }
}

// Forgets a gang, and what was read of its owner unless another part of the job needs that. Each part may
// have read the owner under an OwnerRef of its own, which differs in the incarnation.
void Forget(GangStore& store, std::map<std::string, GangRecord>::iterator gang) {
  const std::optional<OwnerRef> owner = gang->second.membership.owner;
  store.gangs.erase(gang);
  if (!owner) return;
  const auto has = [&owner](const auto& entry) { return entry.second.membership.owner == owner; };
  if (std::ranges::none_of(store.gangs, has)) store.owners.erase(*owner);
  const auto is_same = [&owner](const OwnerRef& other) {
    return std::tie(other.api_version, other.kind, other.name_space, other.name) ==
           std::tie(owner->api_version, owner->kind, owner->name_space, owner->name);
  };
  const auto has_same = [&is_same](const auto& entry) {
    return entry.second.membership.owner && is_same(*entry.second.membership.owner);
  };
  if (std::ranges::any_of(store.gangs, has_same)) return;
  std::erase_if(store.owners, [&is_same](const auto& entry) { return is_same(entry.first); });
}

// Ends a gang that has no living pod.
void End(GangStore& store, std::map<std::string, GangRecord>::iterator found) {
  GangRecord& gang = found->second;
  gang.vacant.clear();
  if (gang.departure) Depart(store, gang);
  if (gang.plan && gang.plan->claim) EndClaim(store, gang, ClaimEnd::kIncomplete);
  LetGo(store, found->first);
  gang.plan.reset();
  gang.demand = Demand::kNone;
  gang.completion = Completion::kNever;
  gang.evicted_for.clear();
  for (auto& [uid, member] : gang.members) store.Answer(member, "the pod is gone");
  if (gang.members.empty()) Forget(store, found);
}

// Does the next steps of a gang whose size is known. Sets `head` anew if no plan is left: a plan that has
// just ended changes what is bound or leaving.
void Advance(GangStore& store, GangRecord& gang, Head& head) {
  if (!gang.adopted) Adopt(store, gang);
  if (gang.plan && !gang.plan->failing()) CarryOut(store, gang);
  if (gang.plan && gang.plan->failing()) TakeBack(store, gang);
  if (!gang.plan) head = CountOf(store, gang);
  switch (PhaseOf(store, gang, head)) {
    case GangPhase::kLeaving:
      Depart(store, gang);
      break;
    case GangPhase::kHeld:
      store.Say(gang, kHeld);
      break;
    case GangPhase::kRunning:
      WipeStale(store, gang);
      Refill(store, gang, head);
      break;
    case GangPhase::kReady:
    case GangPhase::kGathering:
      WipeStale(store, gang);
      Gather(store, gang, head);
      break;
    case GangPhase::kEnded:
    case GangPhase::kSizeUnknown:
    case GangPhase::kPlanned:
      break;
  }
  SayThatItMadeRoom(store, gang);
  if (!gang.plan && gang.text != kUndecided) Ungate(store, gang);
  if (!gang.plan && gang.completion == Completion::kOnce) RecordCompletion(store, gang);
}

}  // namespace

GangPhase PhaseOf(const GangStore& store, const GangRecord& gang, const Head& head) {
  if (head.living == 0) return GangPhase::kEnded;
  if (gang.membership.size == 0 && gang.membership.fault.empty()) return GangPhase::kSizeUnknown;
  if (gang.departure) return GangPhase::kLeaving;
  if (store.held.contains(gang.membership.id)) return GangPhase::kHeld;
  if (gang.plan) return GangPhase::kPlanned;
  if (head.bound > 0) return GangPhase::kRunning;
  return gang.demand == Demand::kNone ? GangPhase::kGathering : GangPhase::kReady;
}

void Reconcile(GangStore& store, const std::string& id) {
  const auto found = store.gangs.find(id);
  if (found == store.gangs.end()) return;
  GangRecord& gang = found->second;
  Head head = CountOf(store, gang);
  const GangPhase phase = PhaseOf(store, gang, head);
  if (phase == GangPhase::kEnded) return End(store, found);
  if (phase == GangPhase::kSizeUnknown) {
    AskOwner(store, gang);
  } else {
    Advance(store, gang, head);
  }
  AnswerLate(store, gang, NeedOf(store, gang, head));
  Tell(store, gang);
  TellOfMaker(store, gang);
}

}  // namespace crossover::extender
