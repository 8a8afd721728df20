#include "extender/gang/carry_out.h"

#include <algorithm>
#include <cmath>

#include "common/base/names.h"
#include "extender/gang/owner_reading.h"
#include "extender/gang/planner.h"
#include "extender/gang/request.h"
#include "extender/gang/vacancy.h"
#include "extender/placement/memory.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;

constexpr std::size_t kMostOfAMessage = 300;

double Grown(double first, double most, int times) {
  return std::min(most, first * std::exp2(std::min(times, 30)));
}

// Slots of pods that are gone are nobody's. Whether there were any.
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

void FillSlots(Desk& desk, GangRecord& gang) {
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

// What pods that come are granted of each GPU's memory; 0: they say it themselves, or it is not known.
placement::Bytes ToGrant(const Desk& desk, const GangRecord& gang) {
  if (gang.granted) return *gang.granted;
  const std::vector<const Pod*> pods = PodsOf(desk, gang);
  if (pods.empty()) return 0;
  const Request request = RequestOf(gang.membership, pods, gang.membership.size, *desk.world);
  return request.names_memory ? 0 : placement::CapOf(request.gang, desk.settings.placement);
}

void Reserve(Desk& desk, GangRecord& gang, const Slot& slot, placement::Bytes granted) {
  Member& member = gang.members.at(slot.uid);
  const Pod& pod = *desk.world->FindPod(slot.uid);
  const auto containers = Distribute(pod, slot.seat.gpus);
  if (!containers) return;  // the plan runs into its deadline, as it never does with RequestOf() before it
  member.seat = {slot.seat.node, *containers};
  desk.Begin(gang, slot.uid, Kind::kReserve, "",
             WriteReservation({.plan = gang.plan->id,
                               .seat = member.seat,
                               .until_s = gang.plan->until_s,
                               .again = !gang.plan->whole && gang.placed,
                               .size = gang.plan->size}),
             granted);
  if (member.in_flight != 0) member.maybe_reserved = true;
}

// Its own scheduler alone is told where it goes: another one asks nobody.
void Release(Desk& desk, GangRecord& gang, const Slot& slot) {
  const bool ours = desk.world->FindPod(slot.uid)->scheduler == base::kSchedulerName;
  // Another text each time: what changes nothing wakes nobody.
  desk.Begin(gang, slot.uid, Kind::kRelease, ours ? slot.seat.node : "",
             desk.epoch + "-" + std::to_string(desk.next));
}

void Open(Desk& desk, GangRecord& gang) {
  const auto reserved = [&](const Slot& slot) {
    return !slot.uid.empty() && (gang.members.at(slot.uid).reserved || ViewOf(desk, gang, slot.uid).bound());
  };
  gang.plan->open |= std::ranges::all_of(gang.plan->slots, reserved);
}

// Once all have arrived that are not bound: none of them is held from then on.
void Pass(Desk& desk, GangRecord& gang) {
  const auto here = [&](const Slot& slot) {
    if (slot.uid.empty()) return false;
    const Member& member = gang.members.at(slot.uid);
    return member.ticket || member.go || member.posted || ViewOf(desk, gang, slot.uid).bound();
  };
  if (!std::ranges::all_of(gang.plan->slots, here)) return;
  for (const Slot& slot : gang.plan->slots) gang.members.at(slot.uid).go = true;
}

// Members that are bound, or have been and are done. `leaving`: those on their way out, too.
int Here(const Desk& desk, const GangRecord& gang, bool leaving) {
  return static_cast<int>(std::ranges::count_if(gang.members, [&](const auto& entry) {
    const View view = ViewOf(desk, gang, entry.first);
    return (view.bound() && (leaving || !view.leaving())) || view.done();
  }));
}

// What the plan is to bring together: no more than the gang has now, should it have become smaller, nor than
// it had when the plan was made, should it have grown since.
int Wanted(const GangRecord& gang) { return std::min(gang.plan->size, gang.membership.size); }

bool Done(const Desk& desk, const GangRecord& gang) {
  const bool all = Here(desk, gang, false) >= gang.membership.size;
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
  // One that came again does not make the gang whole: others may be lacking still.
  if (gang.plan->whole) {
    gang.placed = true;
    gang.lacking_s.reset();
    gang.complete_s = 0;
  }
  gang.plan.reset();
  gang.failures = 0;
  gang.excluded.clear();
  desk.Say(gang, "");
}

// Members that no slot is for: the reservations of some were never written, or are lost.
void AddSlots(Desk& desk, GangRecord& gang) {
  int bound = 0;
  for (const auto& [uid, member] : gang.members) {
    const bool in_plan = std::ranges::find(gang.plan->slots, uid, &Slot::uid) != gang.plan->slots.end();
    bound += !in_plan && ViewOf(desk, gang, uid).bound() ? 1 : 0;
  }
  const int slots = static_cast<int>(gang.plan->slots.size());
  if (bound + slots >= Wanted(gang) || desk.now_s < gang.seat_retry_s) return;
  if (Seatless(desk, gang).empty() || !desk.MaySearch(gang)) return;
  std::string why;
  if (auto seat = FindSeat(desk, gang, &why)) {
    gang.plan->slots.push_back({std::move(*seat), ""});
  } else {
    gang.seat_retry_s = desk.now_s + 1;
  }
}

bool Lacks(const Desk& desk, const GangRecord& gang) {
  return gang.plan->whole && Here(desk, gang, true) < Wanted(gang);
}

// Nodes of members that no scheduler has brought are left out where it says of them that they fit nowhere. It
// may have said so before the plan was made: a scheduler does not repeat itself, nor try again what cannot
// have changed. Its words, for one of them; empty: it said nothing of the kind.
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
  // It may have become smaller meanwhile, and be whole.
  if (!KnowsSizeNow(desk, gang, &plan.asked)) return;
  plan.late = true;
  const auto seconds = static_cast<long>(desk.settings.deadline_s);
  const std::string why = "not all of its pods were bound within " + std::to_string(seconds) + " s";
  const std::string words = ExcludeRefused(desk, gang);
  Fail(desk, gang, words.empty() ? why : why + ": the scheduler says: " + words, false);
}

// The answers to its Bindings came after the deadline.
bool IsWholeAfterAll(const Desk& desk, GangRecord& gang) {
  const bool undone =
      std::ranges::any_of(gang.members, [](const auto& entry) { return entry.second.doomed; });
  if (!gang.plan->late || undone) return false;
  FreeSlots(desk, gang);
  return Done(desk, gang) && !Lacks(desk, gang);
}

}  // namespace

std::string Beginning(const std::string& message) { return message.substr(0, kMostOfAMessage); }

void Exclude(Desk& desk, GangRecord& gang, const std::string& node, const std::string& words) {
  Exclusion& exclusion = gang.excluded[node];
  exclusion.until_s =
      desk.now_s + Grown(desk.settings.exclude_s, desk.settings.most_exclude_s, exclusion.times++);
  exclusion.why = Beginning(words);
}

void Fail(Desk& desk, GangRecord& gang, std::string why, bool at_once) {
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
  // Of a pod that went and has no successor its job may have no use any more: the others are whole, then.
  const bool in_time = desk.now_s <= plan.until_s;
  if (in_time && std::ranges::any_of(plan.slots, &std::string::empty, &Slot::uid)) DoubtSize(desk, gang);
  std::optional<placement::Bytes> granted;
  for (const Slot& slot : plan.slots) {
    if (slot.uid.empty() || ViewOf(desk, gang, slot.uid).bound()) continue;
    if (gang.members.at(slot.uid).reserved) continue;
    if (!granted) granted = ToGrant(desk, gang);
    Reserve(desk, gang, slot, *granted);
  }
  Open(desk, gang);
  // Nothing more is posted past the deadline.
  if (plan.open && in_time) {
    Pass(desk, gang);
    for (const Slot& slot : plan.slots) {
      if (slot.uid.empty() || ViewOf(desk, gang, slot.uid).bound()) continue;
      const Member& member = gang.members.at(slot.uid);
      if (!member.reserved) continue;
      if (!member.released) {
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
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (!view.bound() || !plan.whole || view.pod->deleting) continue;
    member.doomed = true;
    if (!member.deleted) {
      desk.Begin(gang, uid, Kind::kDelete, "", "");
      settled = false;
    }
  }
  if (!settled) return;
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (!view.living() || view.bound() || !view.may_have_reservation()) continue;
    desk.Begin(gang, uid, Kind::kClear, "", "");
    settled = false;
  }
  if (!settled) return;
  if (!plan.at_once) {
    gang.hold_until_s =
        desk.now_s + Grown(desk.settings.hold_off_s, desk.settings.most_hold_off_s, gang.failures++);
  }
  desk.Say(gang, "it is placed anew: " + plan.why);
  // A pod that came again may have the place that it could not get to: where it was is still its gang's.
  if (!plan.whole) {
    for (Slot& slot : plan.slots) {
      const auto member = gang.members.find(slot.uid);
      const bool has = member != gang.members.end() && ViewOf(desk, gang, slot.uid).bound();
      if (!has) gang.Vacate(std::move(slot.seat), desk.now_s);
    }
  }
  for (auto& [uid, member] : gang.members) {
    member.reserved = member.released = member.go = member.posted = false;
    member.tellings = 0;  // it is another matter now
  }
  gang.plan.reset();
  desk.replan = true;
  desk.dirty.insert(gang.membership.id);
}

}  // namespace crossover::extender
