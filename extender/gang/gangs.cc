#include "extender/gang/gangs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/names.h"
#include "extender/gang/carry_out.h"
#include "extender/gang/life.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/planner.h"
#include "extender/gang/removal.h"
#include "extender/gang/room.h"

namespace crossover::extender {
namespace {

constexpr double kLookEveryS = 0.5;
constexpr int kMostSearches = 8;    // per step, because everything else waits for them
constexpr double kMostQuietS = 60;  // the longest Retry-After of an API server that is respected

// Returns whether the exclusion of some node ended after `before_s`.
bool MayGoBack(const GangRecord& gang, double before_s, double now_s) {
  return std::ranges::any_of(gang.excluded, [&](const auto& entry) {
    return entry.second.until_s > before_s && entry.second.until_s <= now_s;
  });
}

}  // namespace

Gangs::Gangs(const World& world, GangSettings settings, PodFits fits, std::string epoch) {
  desk_.world = &world;
  desk_.settings = std::move(settings);
  desk_.fits = std::move(fits);
  desk_.epoch = std::move(epoch);
  for (const auto& [uid, pod] : world.pods()) {
    if (pod.slots() > 0) Join(pod);
  }
  RecallMadeRoom(desk_);
  FindClaims(desk_);
  desk_.replan = true;
}

void Gangs::ForgetMade(const std::string& id, const std::string& uid) {
  const auto maker = desk_.makers.find(id);
  if (maker == desk_.makers.end()) return;
  maker->second.pods.erase(uid);
  if (maker->second.pods.empty()) desk_.makers.erase(maker);
}

void Gangs::Join(const Pod& pod) {
  const std::optional<OwnerRef> owner = OwnerOf(pod);
  const auto entry = owner ? desk_.owners.find(*owner) : desk_.owners.end();
  const bool read = entry != desk_.owners.end() && entry->second.facts;
  Membership membership = MembershipOf(pod, read ? &*entry->second.facts : nullptr);
  const auto before = desk_.gang_of.find(pod.uid);
  Member member;
  if (before != desk_.gang_of.end() && before->second != membership.id) {
    // The pod's part of the job is known only now. Nothing was planned for the pod before.
    GangRecord& old = desk_.gangs.at(before->second);
    member = old.members.at(pod.uid);
    old.members.erase(pod.uid);
    if (old.members.empty()) desk_.gangs.erase(before->second);
  }
  desk_.gang_of[pod.uid] = membership.id;
  if (membership.known == Known::kNotKnown && !pod.over) {
    desk_.makers[membership.maker.id].pods.insert(pod.uid);
  } else if (pod.over) {
    ForgetMade(membership.maker.id, pod.uid);
  }
  GangRecord& gang = desk_.gangs[membership.id];
  desk_.dirty.insert(membership.id);
  gang.membership = std::move(membership);
  gang.members.try_emplace(pod.uid, std::move(member));
}

// Takes the seat of a member that does not use its GPUs any more. If another pod will come in its place
// (`comes_again`), the GPUs stay with the gang, as long as others of the gang are bound.
void Gangs::GiveBack(GangRecord& gang, const std::string& uid, bool comes_again) {
  Member& member = gang.members.at(uid);
  const bool in_plan =
      gang.plan && std::ranges::find(gang.plan->slots, uid, &Slot::uid) != gang.plan->slots.end();
  if (comes_again && !in_plan && !member.bound.empty() && !member.doomed && !member.seat.containers.empty()) {
    gang.Vacate({member.seat.node, member.seat.gpus()}, desk_.now_s);
  }
  member.seat = {};
}

// Returns whether the owner of the gang makes another pod after one that has done its work.
bool Gangs::IsFollowed(const GangRecord& gang) const {
  if (!gang.membership.owner) return false;
  const Head head = CountOf(desk_, gang);
  return head.bound + head.leaving + static_cast<int>(gang.vacant.size()) < NeedOf(desk_, gang, head);
}

void Gangs::Leave(const std::string& uid, const std::string& id) {
  GangRecord& gang = desk_.gangs.at(id);
  desk_.Answer(gang.members.at(uid), "the pod is gone");
  gang.settled = false;
  GiveBack(gang, uid, true);
  gang.members.erase(uid);
  ForgetMade(gang.membership.maker.id, uid);
  moved_.insert(uid);
  desk_.gang_of.erase(uid);
  desk_.dirty.insert(id);
}

void Gangs::PodChanged(const std::string& uid, double now_s) {
  desk_.now_s = now_s;
  desk_.replan = true;
  const Pod* pod = desk_.world->FindPod(uid);
  const auto known = desk_.gang_of.find(uid);
  if (pod == nullptr) {
    if (known != desk_.gang_of.end()) Leave(uid, std::string(known->second));
    return;
  }
  if (pod->slots() == 0) return;
  Join(*pod);
  Judge(*pod, *desk_.GangOf(uid));
}

// Handles what the watch says of a pod: that it is bound, has ended, or that its scheduler finds no node for
// it.
void Gangs::Judge(const Pod& pod, GangRecord& gang) {
  Member& member = gang.members.at(pod.uid);
  // A watch goes back in time only where the API server's storage was restored to an older state. That state
  // is true, and what was written since is lost.
  if (!AsNewAs(pod.version, member.seen)) member.version = pod.version;
  member.seen = pod.version;
  if (pod.deleting || pod.over) gang.settled = false;  // SayThatItRan() may have written `again` to this pod
  if (!pod.node.empty()) {
    if (member.bound_s == 0) member.bound_s = desk_.now_s;
    member.bound = pod.node;
    if (pod.over) {
      desk_.Answer(member, "");
      return GiveBack(gang, pod.uid, pod.failed || IsFollowed(gang));
    }
    const auto assigned = pod.annotations.find(base::kAssignmentAnnotation);
    if (assigned != pod.annotations.end()) member.seat = {pod.node, ReadAssignment(assigned->second)};
    desk_.Answer(member, "");
    return;
  }
  const Scheduled& said = pod.scheduled;
  if (said.yes || said.reason != "Unschedulable") return;
  const auto says = [&said](const std::string& words) {
    return said.message.find(words) != std::string::npos;
  };
  for (auto& [node, exclusion] : gang.excluded) {
    if (exclusion.why.empty() && says(NotThere(node))) exclusion.why = Beginning(said.message);
  }
  const bool planned = gang.plan && gang.plan->open && !gang.plan->failing;
  if (!planned || !member.released || member.ticket || member.posted || !AsNewAs(pod.version, member.version))
    return;
  if (said.message == member.message) return;
  const std::string node = member.seat.node;
  if (says(kWaits) && !says(NotThere(node))) return;
  Exclude(desk_, gang, node, said.message);
  // A message without our words means that the scheduler had no node left to ask about. An immediate next
  // plan would fail in the same way.
  Fail(desk_, gang, "the scheduler would not have it on " + node + ": " + Beginning(said.message),
       says(kWaits));
}

void Gangs::OwnerRead(std::uint64_t id, const nlohmann::json& object, const std::string& error,
                      double now_s) {
  desk_.now_s = now_s;
  for (auto& [owner, entry] : desk_.owners) {
    if (entry.in_flight != id) continue;
    entry.in_flight = 0;
    entry.error = error;
    ++entry.in_vain;
    if (!error.empty()) return;
    OwnerFacts facts = ReadOwner(object);
    if (entry.facts == facts) return;
    entry.facts = std::move(facts);
    entry.in_vain = 0;
    std::vector<const Pod*> pods;
    for (const auto& [uid, gang] : desk_.gang_of) {
      const Pod* pod = desk_.world->FindPod(uid);
      if (pod != nullptr && OwnerOf(*pod) == owner) pods.push_back(pod);
    }
    for (const Pod* pod : pods) Join(*pod);
    return;
  }
}

void Gangs::Written(std::uint64_t id, const Result& result, double now_s) {
  desk_.now_s = now_s;
  const auto write = desk_.writes.extract(id);
  if (write.empty()) return;
  GangRecord* gang = desk_.GangOf(write.mapped().uid);
  if (gang == nullptr) return;
  const std::string& uid = write.mapped().uid;
  Member& member = gang->members.at(uid);
  member.in_flight = 0;
  desk_.dirty.insert(gang->membership.id);
  if (result.outcome == Outcome::kDone) {
    member.failures = 0;
    if (!result.version.empty()) member.version = result.version;
  } else if (result.outcome == Outcome::kGone) {
    member.gone = true;
    desk_.Answer(member, "the pod is gone");
  } else {
    member.retry_s = now_s + std::min(30.0, 0.25 * static_cast<double>(1u << std::min(member.failures++, 7)));
    desk_.quiet_until_s = std::max(desk_.quiet_until_s, now_s + std::min(result.retry_after_s, kMostQuietS));
  }
  Settle(*gang, write.mapped(), result);
}

void Gangs::Settle(GangRecord& gang, const Desk::Write& write, const Result& result) {
  using Kind = Action::Kind;
  const Kind kind = write.kind;
  Member& member = gang.members.at(write.uid);
  if (kind == Kind::kBind) return SettleBinding(gang, write.uid, result);
  if (kind == Kind::kEvict && result.forbidden) return Forbid(desk_, gang, result.error);
  if (result.outcome != Outcome::kDone) return;
  if (kind == Kind::kReserve) member.reserved = true;
  if (kind == Kind::kClear) member.maybe_reserved = member.reserved = false;
  if (kind == Kind::kRelease) {
    member.lifted = true;
    // A release without a plan gave the scheduler no node, so the scheduler tried the pod in vain. The plan
    // releases the pod again.
    member.released = gang.plan && write.plan == gang.plan->id;
  }
  if (kind == Kind::kEvict) member.evicted = true;
}

void Gangs::SettleBinding(GangRecord& gang, const std::string& uid, const Result& result) {
  Member& member = gang.members.at(uid);
  const bool refused = result.outcome == Outcome::kRefused;
  if (result.outcome == Outcome::kDone || (refused && result.node == member.seat.node)) {
    member.bound = member.seat.node;
    member.bound_s = desk_.now_s;
    member.unsure = false;
    desk_.Answer(member, "");
    return;
  }
  member.unsure |= result.outcome == Outcome::kUnknown;
  // A refusal (busy, forbidden) says nothing about an earlier attempt whose answer was lost. Unless the pod
  // was read since, the Binding is posted again.
  if (!refused || (member.unsure && !result.looked)) return;
  member.posted = member.unsure = false;
  desk_.Answer(member, "not bound: " + result.error);
  if (result.node.empty()) return;
  member.bound = result.node;
  if (gang.plan && !gang.plan->failing) {
    Fail(desk_, gang, "a pod was bound to " + result.node + " by another scheduler", false);
  }
}

std::vector<Action> Gangs::Step(double now_s, std::size_t tell_room) {
  desk_.now_s = now_s;
  desk_.tell_room = tell_room;
  if (now_s >= looked_s_ + kLookEveryS) {
    const double before_s = std::exchange(looked_s_, now_s);
    for (const auto& [id, gang] : desk_.gangs) {
      if (!gang.placed || !gang.settled || gang.plan || gang.lacking_s || gang.crowded ||
          !gang.vacant.empty() || gang.departure)
        desk_.dirty.insert(id);
      desk_.replan |= gang.ready && MayGoBack(gang, before_s, now_s);
    }
    ForgetOldRoom(desk_);
    if (desk_.spared_until_s > 0 && now_s >= desk_.spared_until_s) {
      desk_.spared_until_s = 0;
      desk_.replan = true;
    }
  }
  desk_.searches = now_s >= rest_until_s_ ? kMostSearches : 0;
  AdvanceAll();
  planned_ = desk_.replan && now_s >= std::max(planned_s_ + desk_.settings.plan_every_s, rest_until_s_);
  if (planned_) {
    planned_s_ = now_s;
    PlanWaiting(desk_);
    AdvanceAll();
  }
  searched_ = now_s >= rest_until_s_ && desk_.searches < kMostSearches;
  // If no search ran in this step, the periodic look advances the gangs in `later` after the pause.
  if (searched_) desk_.dirty.merge(desk_.later);
  desk_.later.clear();
  return std::exchange(desk_.actions, {});
}

// Advances all dirty gangs. Gangs whose last search for a seat is the longest ago come first.
void Gangs::AdvanceAll() {
  while (!desk_.dirty.empty()) {
    std::vector<std::pair<std::uint64_t, std::string>> in_turn;
    for (const std::string& id : std::exchange(desk_.dirty, {})) {
      const auto gang = desk_.gangs.find(id);
      in_turn.emplace_back(gang == desk_.gangs.end() ? 0 : gang->second.searched, id);
    }
    std::ranges::sort(in_turn);
    for (const auto& [searched, id] : in_turn) {
      Advance(desk_, id);
      const auto gang = desk_.gangs.find(id);
      if (gang == desk_.gangs.end()) continue;
      for (const auto& [uid, member] : gang->second.members) moved_.insert(uid);
    }
  }
}

void Gangs::Took(double begin_s, double end_s) {
  constexpr double kRests = 4;  // the pause after a step, in multiples of the step's time
  if (planned_ || searched_) rest_until_s_ = end_s + kRests * (end_s - begin_s);
}

std::string Gangs::WhyWaits(const std::string& uid) const {
  const auto id = desk_.gang_of.find(uid);
  return id == desk_.gang_of.end() ? "" : desk_.gangs.at(id->second).text;
}

}  // namespace crossover::extender
