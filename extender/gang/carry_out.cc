#include "extender/gang/carry_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/names.h"
#include "common/text/cut.h"
#include "extender/gang/need.h"
#include "extender/gang/owner_reading.h"
#include "extender/gang/planner.h"
#include "extender/gang/removal.h"
#include "extender/gang/request.h"
#include "extender/gang/room.h"
#include "extender/gang/vacancy.h"
#include "extender/placement/memory.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;

constexpr std::size_t kMostOfAMessage = 300;  // bytes

// Returns `first`, doubled `times` times, but at most `most`.
double Grown(double first, double most, int times) {
  return std::min(most, first * std::exp2(std::min(times, 30)));
}

// Frees the slots whose pods are gone or give up their seats. Returns whether there were any.
bool FreeSlots(const Desk& desk, GangRecord& gang) {
  bool freed = false;
  for (Slot& slot : gang.plan->slots) {
    if (slot.uid.empty()) continue;
    const auto member = gang.members.find(slot.uid);
    if (member != gang.members.end()) {
      const View view = ViewOf(desk, gang, slot.uid);
      const bool lost = !view.living() || (view.leaving() && !view.bound() && !member->second.posted);
      if (!lost) continue;
    }
    slot.uid.clear();
    freed = true;
  }
  return freed;
}

// Gives each slot without a pod to a member that has no slot.
void FillSlots(Desk& desk, GangRecord& gang) {
  if (std::ranges::none_of(gang.plan->slots, &std::string::empty, &Slot::uid)) return;
  std::vector<std::string> uids = Seatless(desk, gang);
  auto next = uids.begin();
  for (Slot& slot : gang.plan->slots) {
    if (!slot.uid.empty()) continue;
    if (next == uids.end()) return;
    Member& member = gang.members.at(*next);
    member.reserved = member.released = member.go = member.posted = false;
    member.message = desk.world->FindPod(*next)->scheduled.message;
    slot.uid = *next++;
  }
}

// Returns how much of each GPU's memory new pods are granted, in bytes. Returns 0 where the pods name it
// themselves, or where it is not known.
placement::Bytes ToGrant(const Desk& desk, const GangRecord& gang) {
  if (gang.granted) return *gang.granted;
  const std::vector<const Pod*> pods = PodsOf(desk, gang);
  if (pods.empty()) return 0;
  const Request request = RequestOf(gang.membership, pods, std::max(1, gang.membership.size), *desk.world);
  return request.names_memory ? 0 : placement::CapOf(request.gang, desk.settings.placement);
}

void Reserve(Desk& desk, GangRecord& gang, const Slot& slot, placement::Bytes granted) {
  Member& member = gang.members.at(slot.uid);
  if (!desk.MayWrite(member)) return;
  const Pod& pod = *desk.world->FindPod(slot.uid);
  const auto containers = Distribute(pod, slot.seat.gpus);
  if (!containers) return;  // RequestOf() has excluded this; if it happened, the plan's deadline would end it
  member.seat = {slot.seat.node, *containers};
  // Two pods say which gangs made room: one of them may be lost. The list may be long.
  const bool tells = &slot == &gang.plan->slots.front() || &slot == &gang.plan->slots.back();
  desk.Begin(gang, slot.uid, Kind::kReserve, "",
             WriteReservation({.plan = gang.plan->id,
                               .seat = member.seat,
                               .until_s = gang.plan->until_s,
                               .again = !gang.plan->whole && gang.placed,
                               .size = gang.plan->size,
                               .claims = gang.plan->claim.has_value(),
                               .left = tells ? gang.plan->left : std::nullopt}),
             granted);
  if (member.in_flight != 0) member.maybe_reserved = true;
}

// Releases the pod to its scheduler. Only pods of our scheduler are nominated to a node: another scheduler
// does not ask this extender.
void Release(Desk& desk, GangRecord& gang, const Slot& slot) {
  const bool ours = desk.world->FindPod(slot.uid)->scheduler == base::kSchedulerName;
  // The text differs each time, because a write that changes nothing makes no scheduler retry the pod.
  desk.Begin(gang, slot.uid, Kind::kRelease, ours ? slot.seat.node : "",
             desk.epoch + "-" + std::to_string(desk.next));
}

// Opens the plan once every slot has a pod with its reservation, or a bound one.
void Open(Desk& desk, GangRecord& gang) {
  const auto reserved = [&](const Slot& slot) {
    return !slot.uid.empty() && (gang.members.at(slot.uid).reserved || ViewOf(desk, gang, slot.uid).bound());
  };
  gang.plan->open |= std::ranges::all_of(gang.plan->slots, reserved);
}

// Returns whether a bind call has come for the slot's pod, or the pod is bound.
bool IsHere(const Desk& desk, const GangRecord& gang, const Slot& slot) {
  if (slot.uid.empty()) return false;
  const Member& member = gang.members.at(slot.uid);
  return member.ticket || member.go || member.posted || ViewOf(desk, gang, slot.uid).bound();
}

// Allows the Bindings once a bind call has come for every member that is not bound. From then on no bind of
// this plan is held.
void Pass(Desk& desk, GangRecord& gang) {
  const auto here = [&](const Slot& slot) { return IsHere(desk, gang, slot); };
  if (!std::ranges::all_of(gang.plan->slots, here)) return;
  for (const Slot& slot : gang.plan->slots) gang.members.at(slot.uid).go = true;
}

// Returns the last wave whose pods may be released: all pods of the waves before it are here.
int WaveOf(const Desk& desk, const GangRecord& gang) {
  int wave = std::numeric_limits<int>::max();
  for (const Slot& slot : gang.plan->slots) {
    if (!IsHere(desk, gang, slot)) wave = std::min(wave, slot.wave);
  }
  return wave;
}

// A Score says how far the plan is. Members that have done their work since the plan was made count as bound,
// because they were.
struct Score {
  int here = 0;     // members that are bound and stay
  int leaving = 0;  // members that are bound and terminate
  int wanted = 0;   // members that the plan must bind
};

// The gang may have shrunk or grown since the plan was made: the smaller size counts.
Score ScoreOf(const Desk& desk, const GangRecord& gang) {
  const Head head = CountOf(desk, gang);
  const int since = std::max(0, head.done - gang.plan->done);
  return {.here = head.bound + since,
          .leaving = head.leaving,
          .wanted = std::min(gang.plan->size, NeedOf(desk, gang, head) + since)};
}

// Returns whether every slot's pod is bound. A slot without a pod counts as bound if the gang is complete
// without it.
bool Done(const Desk& desk, const GangRecord& gang) {
  const Score score = ScoreOf(desk, gang);
  const bool all = score.here >= score.wanted;
  return std::ranges::all_of(gang.plan->slots, [&](const Slot& slot) {
    return slot.uid.empty() ? all : ViewOf(desk, gang, slot.uid).bound();
  });
}

void Bind(Desk& desk, GangRecord& gang, const std::string& uid) {
  Member& member = gang.members.at(uid);
  if (!desk.MayWrite(member)) return;
  member.posted = true;
  desk.Begin(gang, uid, Kind::kBind, member.seat.node, WriteAssignment(member.seat.containers));
}

void Finish(Desk& desk, GangRecord& gang) {
  // A plan for a pod that came again does not make the gang complete: other pods may still be missing.
  if (gang.plan->whole) {
    gang.placed = true;
    gang.lacking_s.reset();
    gang.complete_s = 0;
  }
  gang.plan.reset();
  gang.failures = 0;
  gang.excluded.clear();
  if (gang.placed) gang.removal = {};
  desk.Say(gang, "");
}

// Adds a slot for a member that has none, if the plan has too few. That happens after a change of leader,
// when some reservations were never written or are lost.
void AddSlots(Desk& desk, GangRecord& gang) {
  int bound = 0;
  const auto seated = gang.plan->seated();
  for (const auto& [uid, member] : gang.members) {
    bound += !seated.contains(uid) && ViewOf(desk, uid, member).bound() ? 1 : 0;
  }
  const int slots = static_cast<int>(gang.plan->slots.size());
  if (bound + slots >= ScoreOf(desk, gang).wanted || desk.now_s < gang.seat_retry_s) return;
  if (Seatless(desk, gang).empty() || !desk.MaySearch(gang)) return;
  std::string why;
  if (auto seat = FindSeat(desk, gang, &why)) {
    gang.plan->slots.push_back({std::move(*seat), ""});
  } else {
    gang.seat_retry_s = desk.now_s + 1;
  }
}

// Returns whether a plan for the whole gang has bound too few members.
bool Lacks(const Desk& desk, const GangRecord& gang) {
  const Score score = ScoreOf(desk, gang);
  return gang.plan->whole && score.here + score.leaving < score.wanted;
}

// Excludes the nodes of members that the scheduler calls unschedulable and has not asked to bind. It may
// have said so before the plan was made: a scheduler does not repeat a message, and does not retry a pod
// for which nothing can have changed. Returns its message about one such member, or "" where there is none.
std::string ExcludeRefused(Desk& desk, GangRecord& gang) {
  std::map<std::string, std::string> refused;  // by node
  for (const Slot& slot : gang.plan->slots) {
    const View view = slot.uid.empty() ? View{} : ViewOf(desk, gang, slot.uid);
    if (!view.waiting()) continue;
    const Member& member = gang.members.at(slot.uid);
    const Scheduled& said = view.pod->scheduled;
    if (!member.released || member.ticket || member.go || member.posted || said.yes ||
        said.reason != "Unschedulable")
      continue;
    if (said.message.find(kWaits) == std::string::npos) refused.emplace(slot.seat.node, said.message);
  }
  for (const auto& [node, words] : refused) Exclude(desk, gang, node, words);
  return refused.empty() ? "" : gang.excluded.at(refused.begin()->first).why;
}

void RunIntoDeadline(Desk& desk, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  // The gang may have become smaller, and be complete at its new size.
  if (!KnowsSizeNow(desk, gang, &plan.asked)) return;
  plan.late = true;
  const auto seconds = static_cast<long>(desk.settings.deadline_s);
  const std::string why = "not all of its pods were bound within " + std::to_string(seconds) + " s";
  const std::string words = ExcludeRefused(desk, gang);
  Fail(desk, gang, words.empty() ? why : why + ": the scheduler says: " + words, false);
}

// Returns whether a plan that failed at its deadline is complete after all, because the answers to its
// Bindings came later. That is no longer possible once a member is to be deleted.
bool IsWholeAfterAll(const Desk& desk, GangRecord& gang) {
  const bool undone =
      std::ranges::any_of(gang.members, [](const auto& entry) { return entry.second.doomed; });
  if (!gang.plan->late || undone) return false;
  FreeSlots(desk, gang);
  return Done(desk, gang) && !Lacks(desk, gang);
}

}  // namespace

std::string Beginning(const std::string& message) { return std::string(text::Cut(message, kMostOfAMessage)); }

void Exclude(Desk& desk, GangRecord& gang, const std::string& node, const std::string& words) {
  Exclusion& exclusion = gang.excluded[node];
  exclusion.until_s =
      desk.now_s + Grown(desk.settings.exclude_s, desk.settings.most_exclude_s, exclusion.times++);
  exclusion.why = Beginning(words);
}

void Fail(Desk& desk, GangRecord& gang, std::string why, bool at_once) {
  if (gang.plan->claim) EndClaim(desk, gang, ClaimEnd::kIncomplete);
  gang.plan->failing = true;
  gang.plan->at_once = at_once;
  for (const Slot& slot : gang.plan->slots) {
    const auto member = gang.members.find(slot.uid);
    if (member != gang.members.end() && !member->second.posted) desk.Answer(member->second, why);
  }
  gang.plan->why = std::move(why);
  desk.dirty.insert(gang.membership.id);
}

void CarryOut(Desk& desk, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  if (FreeSlots(desk, gang) && !plan.open) return Fail(desk, gang, "a pod of it went", true);
  AddSlots(desk, gang);
  FillSlots(desk, gang);
  // A pod vanished and was not replaced: the job may have shrunk and be complete without it, so its size is
  // read again.
  const bool in_time = desk.now_s <= plan.until_s;
  if (in_time && std::ranges::any_of(plan.slots, &std::string::empty, &Slot::uid)) DoubtSize(desk, gang);
  std::optional<placement::Bytes> granted;
  for (const Slot& slot : plan.slots) {
    if (slot.uid.empty() || ViewOf(desk, gang, slot.uid).bound()) continue;
    if (gang.members.at(slot.uid).reserved) continue;
    if (!granted) granted = ToGrant(desk, gang);
    Reserve(desk, gang, slot, *granted);
  }
  if (plan.claim) return MakeRoom(desk, gang);
  Open(desk, gang);
  // After its deadline the plan does not lift gates and does not post Bindings.
  if (plan.open && in_time) {
    Pass(desk, gang);
    const int wave = WaveOf(desk, gang);
    for (const Slot& slot : plan.slots) {
      if (slot.uid.empty() || ViewOf(desk, gang, slot.uid).bound()) continue;
      const Member& member = gang.members.at(slot.uid);
      if (!member.reserved) continue;
      if (!member.released) {
        if (slot.wave > wave) continue;
        Release(desk, gang, slot);
      } else if (member.posted || member.go) {
        Bind(desk, gang, slot.uid);
      }
    }
  }
  if (Done(desk, gang) && !Lacks(desk, gang)) return Finish(desk, gang);
  if (!in_time) RunIntoDeadline(desk, gang);
}

void TakeBack(Desk& desk, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  bool settled = true;
  for (Slot& slot : plan.slots) {
    const auto found = gang.members.find(slot.uid);
    if (found == gang.members.end()) continue;
    const View view = ViewOf(desk, gang, slot.uid);
    Member& member = found->second;
    if (!view.living() || view.bound()) continue;
    settled &= member.in_flight == 0 && !member.posted;
    if (member.posted) Bind(desk, gang, slot.uid);
  }
  if (!settled) return;
  if (IsWholeAfterAll(desk, gang)) return Finish(desk, gang);
  if (plan.whole && !Remove(desk, gang)) return;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, uid, member);
    if (!view.living() || view.bound() || !view.may_have_reservation()) continue;
    desk.Begin(gang, uid, Kind::kClear, "", "");
    settled = false;
  }
  if (!settled) return;
  if (!plan.at_once) {
    gang.hold_until_s =
        desk.now_s + Grown(desk.settings.hold_off_s, desk.settings.most_hold_off_s, gang.failures++);
  }
  const std::string stays = WhyTheyStay(gang);
  gang.removal.state = RemovalState::kNone;
  desk.Say(gang, stays.empty() ? "it is placed anew: " + plan.why : plan.why + "; " + stays);
  // This plan was for a pod that came again and was not bound. The seat stays with the gang.
  if (!plan.whole) {
    for (Slot& slot : plan.slots) {
      const auto member = gang.members.find(slot.uid);
      const bool has = member != gang.members.end() && ViewOf(desk, gang, slot.uid).bound();
      if (!has) gang.Vacate(std::move(slot.seat), desk.now_s);
    }
  }
  for (auto& [uid, member] : gang.members) {
    member.reserved = member.released = member.go = member.posted = false;
    member.tellings = 0;  // the next reason is a new one
  }
  gang.plan.reset();
  desk.replan = true;
  desk.dirty.insert(gang.membership.id);
}

}  // namespace crossover::extender
