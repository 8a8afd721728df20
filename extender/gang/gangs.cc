#include "extender/gang/gangs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/names.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/plan_executor.h"
#include "extender/gang/planner.h"
#include "extender/gang/reconcile.h"
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

Gangs::Gangs(const ClusterCache& cache, GangSettings settings, PodFits fits, std::string epoch) {
  store_.cache = &cache;
  store_.settings = std::move(settings);
  store_.fits = std::move(fits);
  store_.epoch = std::move(epoch);
  for (const auto& [uid, pod] : cache.pods()) {
    if (pod.slots() > 0) Join(pod);
  }
  RecallMadeRoom(store_);
  FindClaims(store_);
  store_.replan = true;
}

void Gangs::ForgetMade(const std::string& id, const std::string& uid) {
  const auto maker = store_.makers.find(id);
  if (maker == store_.makers.end()) return;
  maker->second.pods.erase(uid);
  if (maker->second.pods.empty()) store_.makers.erase(maker);
}

void Gangs::Join(const Pod& pod) {
  const std::optional<OwnerRef> owner = OwnerOf(pod);
  const auto entry = owner ? store_.owners.find(*owner) : store_.owners.end();
  const bool read = entry != store_.owners.end() && entry->second.facts;
  Membership membership = MembershipOf(pod, read ? &*entry->second.facts : nullptr);
  const auto before = store_.gang_of.find(pod.uid);
  Member member;
  if (before != store_.gang_of.end() && before->second != membership.id) {
    // The pod's part of the job is known only now. Nothing was planned for the pod before.
    GangRecord& old = store_.gangs.at(before->second);
    member = old.members.at(pod.uid);
    old.members.erase(pod.uid);
    if (old.members.empty()) store_.gangs.erase(before->second);
  }
  store_.gang_of[pod.uid] = membership.id;
  if (membership.known == Known::kNotKnown && !pod.over) {
    store_.makers[membership.maker.id].pods.insert(pod.uid);
  } else if (pod.over) {
    ForgetMade(membership.maker.id, pod.uid);
  }
  GangRecord& gang = store_.gangs[membership.id];
  store_.dirty.insert(membership.id);
  gang.membership = std::move(membership);
  gang.members.try_emplace(pod.uid, std::move(member)).first->second.rank = RankOf(pod);
}

// Takes the seat of a member that does not use its GPUs any more. If another pod will come in its place
// (`comes_again`), the GPUs stay with the gang, as long as others of the gang are bound.
void Gangs::GiveBack(GangRecord& gang, const std::string& uid, bool comes_again) {
  Member& member = gang.members.at(uid);
  const bool in_plan =
      gang.plan && std::ranges::find(gang.plan->entries, uid, &PlanEntry::uid) != gang.plan->entries.end();
  if (comes_again && !in_plan && !member.bound.empty() && !Leaves(member.eviction) &&
      !member.seat.containers.empty()) {
    gang.Vacate({member.seat.node, member.seat.gpus()}, member.rank, store_.now_s);
  }
  member.seat = {};
}

// Returns whether the owner of the gang makes another pod after one that has done its work.
bool Gangs::IsFollowed(const GangRecord& gang) const {
  if (!gang.membership.owner) return false;
  const Head head = CountOf(store_, gang);
  return head.bound + head.leaving + static_cast<int>(gang.vacant.size()) < NeedOf(store_, gang, head);
}

void Gangs::Leave(const std::string& uid, const std::string& id) {
  GangRecord& gang = store_.gangs.at(id);
  store_.Answer(gang.members.at(uid), "the pod is gone");
  gang.NoteUnrecorded();
  GiveBack(gang, uid, true);
  gang.members.erase(uid);
  ForgetMade(gang.membership.maker.id, uid);
  moved_.insert(uid);
  store_.gang_of.erase(uid);
  store_.dirty.insert(id);
}

void Gangs::PodChanged(const std::string& uid, double now_s) {
  store_.now_s = now_s;
  store_.replan = true;
  const Pod* pod = store_.cache->FindPod(uid);
  const auto known = store_.gang_of.find(uid);
  if (pod == nullptr) {
    if (known != store_.gang_of.end()) Leave(uid, std::string(known->second));
    return;
  }
  if (pod->slots() == 0) return;
  Join(*pod);
  Judge(*pod, *store_.GangOf(uid));
}

// Handles what the watch says of a pod: that it is bound, has ended, or that its scheduler finds no node for
// it.
void Gangs::Judge(const Pod& pod, GangRecord& gang) {
  Member& member = gang.members.at(pod.uid);
  // A watch goes back in time only if the API server's storage was restored to an older state. The older
  // state is true, and later writes are lost.
  if (!AsNewAs(pod.version, member.seen)) member.version = pod.version;
  member.seen = pod.version;
  if (pod.deleting || pod.over) gang.NoteUnrecorded();  // RecordCompletion() may have chosen this pod
  if (!pod.node.empty()) {
    if (member.bound_s == 0) member.bound_s = store_.now_s;
    member.bound = pod.node;
    if (pod.over) {
      store_.Answer(member, "");
      return GiveBack(gang, pod.uid, pod.failed || IsFollowed(gang));
    }
    const auto assigned = pod.annotations.find(base::kAssignmentAnnotation);
    if (assigned != pod.annotations.end()) member.seat = {pod.node, ReadAssignment(assigned->second)};
    store_.Answer(member, "");
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
  const bool planned = gang.plan && gang.plan->phase == PlanPhase::kOpen;
  if (!planned || !IsReleased(member.phase) || member.bind_handle || IsPosted(member.phase) ||
      !AsNewAs(pod.version, member.version))
    return;
  if (said.message == member.message) return;
  const std::string node = member.seat.node;
  if (says(kWaits) && !says(NotThere(node))) return;
  Exclude(store_, gang, node, said.message);
  // A message without our words means that the scheduler had no node left to ask about. An immediate next
  // plan would fail in the same way.
  Fail(store_, gang, "the scheduler refused the node " + node + ": " + Beginning(said.message), says(kWaits));
}

void Gangs::OwnerRead(std::uint64_t id, const nlohmann::json& object, const std::string& error,
                      double now_s) {
  store_.now_s = now_s;
  for (auto& [owner, entry] : store_.owners) {
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
    for (const auto& [uid, gang] : store_.gang_of) {
      const Pod* pod = store_.cache->FindPod(uid);
      if (pod != nullptr && OwnerOf(*pod) == owner) pods.push_back(pod);
    }
    for (const Pod* pod : pods) Join(*pod);
    return;
  }
}

void Gangs::Written(std::uint64_t id, const Result& result, double now_s) {
  store_.now_s = now_s;
  const auto write = store_.writes.extract(id);
  if (write.empty()) return;
  GangRecord* gang = store_.GangOf(write.mapped().uid);
  if (gang == nullptr) return;
  const std::string& uid = write.mapped().uid;
  Member& member = gang->members.at(uid);
  member.in_flight = 0;
  store_.dirty.insert(gang->membership.id);
  if (result.outcome == Outcome::kDone) {
    member.failures = 0;
    if (!result.version.empty()) member.version = result.version;
  } else if (result.outcome == Outcome::kGone) {
    member.gone = true;
    store_.Answer(member, "the pod is gone");
  } else {
    member.retry_s = now_s + std::min(30.0, 0.25 * static_cast<double>(1u << std::min(member.failures++, 7)));
    store_.quiet_until_s =
        std::max(store_.quiet_until_s, now_s + std::min(result.retry_after_s, kMostQuietS));
  }
  Settle(*gang, write.mapped(), result);
}

void Gangs::Settle(GangRecord& gang, const GangStore::Write& write, const Result& result) {
  using Kind = Action::Kind;
  const Kind kind = write.kind;
  Member& member = gang.members.at(write.uid);
  if (kind == Kind::kBind) return SettleBinding(gang, write.uid, result);
  if (kind == Kind::kEvict && result.forbidden) return Forbid(store_, gang, result.error);
  if (result.outcome != Outcome::kDone) return;
  if (kind == Kind::kReserve) member.Note(PodEvent::kReserved);
  if (kind == Kind::kClear) {
    member.maybe_reserved = false;
    member.Note(PodEvent::kPlanned);
  }
  if (kind == Kind::kRelease) {
    member.lifted = true;
    // A release without a plan gave the scheduler no node, so the scheduler found no node for the pod. The
    // plan releases the pod again.
    if (gang.plan && write.plan == gang.plan->id) member.Note(PodEvent::kReleased);
  }
  if (kind == Kind::kEvict) member.Note(EvictionEvent::kAccepted);
}

void Gangs::SettleBinding(GangRecord& gang, const std::string& uid, const Result& result) {
  Member& member = gang.members.at(uid);
  const bool refused = result.outcome == Outcome::kRefused;
  if (result.outcome == Outcome::kDone || (refused && result.node == member.seat.node)) {
    member.bound = member.seat.node;
    member.bound_s = store_.now_s;
    member.Note(PodEvent::kBound);
    store_.Answer(member, "");
    return;
  }
  if (result.outcome == Outcome::kUnknown) member.Note(PodEvent::kLost);
  // A refusal (busy, forbidden) says nothing about an earlier attempt whose answer was lost. Unless the pod
  // was read since, the Binding is posted again.
  if (!refused || (member.phase == PodPhase::kUnsure && !result.looked)) return;
  member.Note(PodEvent::kRefused);
  store_.Answer(member, "not bound: " + result.error);
  if (result.node.empty()) return;
  member.bound = result.node;
  if (gang.plan && !gang.plan->failing()) {
    Fail(store_, gang,
         "a pod of the gang is bound to " + result.node + ", and its GPUs are on " + member.seat.node, false);
  }
}

std::vector<Action> Gangs::Step(double now_s, std::size_t tell_room) {
  store_.now_s = now_s;
  store_.tell_room = tell_room;
  if (now_s >= looked_s_ + kLookEveryS) {
    const double before_s = std::exchange(looked_s_, now_s);
    for (const auto& [id, gang] : store_.gangs) {
      if (gang.completion != Completion::kRecorded || gang.plan || gang.lacking_s || gang.crowded ||
          !gang.vacant.empty() || gang.departure)
        store_.dirty.insert(id);
      store_.replan |= gang.demand != Demand::kNone && MayGoBack(gang, before_s, now_s);
    }
    ForgetOldRoom(store_);
    if (store_.spared_until_s > 0 && now_s >= store_.spared_until_s) {
      store_.spared_until_s = 0;
      store_.replan = true;
    }
  }
  store_.searches = now_s >= rest_until_s_ ? kMostSearches : 0;
  ReconcileAll();
  planned_ = store_.replan && now_s >= std::max(planned_s_ + store_.settings.plan_every_s, rest_until_s_);
  if (planned_) {
    planned_s_ = now_s;
    PlanWaiting(store_);
    ReconcileAll();
  }
  searched_ = now_s >= rest_until_s_ && store_.searches < kMostSearches;
  // If no search ran in this step, the periodic look advances the gangs in `later` after the pause.
  if (searched_) store_.dirty.merge(store_.later);
  store_.later.clear();
  return std::exchange(store_.actions, {});
}

// Advances all dirty gangs. Gangs whose last search for a seat is the longest ago come first.
void Gangs::ReconcileAll() {
  while (!store_.dirty.empty()) {
    std::vector<std::pair<std::uint64_t, std::string>> in_turn;
    for (const std::string& id : std::exchange(store_.dirty, {})) {
      const auto gang = store_.gangs.find(id);
      in_turn.emplace_back(gang == store_.gangs.end() ? 0 : gang->second.searched, id);
    }
    std::ranges::sort(in_turn);
    for (const auto& [searched, id] : in_turn) {
      Reconcile(store_, id);
      const auto gang = store_.gangs.find(id);
      if (gang == store_.gangs.end()) continue;
      for (const auto& [uid, member] : gang->second.members) moved_.insert(uid);
    }
  }
}

void Gangs::Took(double begin_s, double end_s) {
  constexpr double kRests = 4;  // the pause after a step, in multiples of the step's time
  if (planned_ || searched_) rest_until_s_ = end_s + kRests * (end_s - begin_s);
}

std::string Gangs::WhyWaits(const std::string& uid) const {
  const auto id = store_.gang_of.find(uid);
  return id == store_.gang_of.end() ? "" : store_.gangs.at(id->second).text;
}

}  // namespace crossover::extender
