#include "extender/gang/plan_executor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/names.h"
#include "common/text/number.h"
#include "common/text/truncate.h"
#include "extender/gang/grants.h"
#include "extender/gang/need.h"
#include "extender/gang/owner_reading.h"
#include "extender/gang/planner.h"
#include "extender/gang/removal.h"
#include "extender/gang/replacement.h"
#include "extender/gang/room.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;

constexpr std::size_t kMostOfAMessage = 300;  // bytes

// Returns `first`, doubled `times` times, but at most `most`.
double Grown(double first, double most, int times) {
  return std::min(most, first * std::exp2(std::min(times, 30)));
}

// Frees the entries whose pods are gone or give up their seats. Returns whether there were any.
bool FreeSlots(const GangStore& store, GangRecord& gang) {
  bool freed = false;
  for (PlanEntry& entry : gang.plan->entries) {
    if (entry.uid.empty()) continue;
    const auto member = gang.members.find(entry.uid);
    if (member != gang.members.end()) {
      const View view = ViewOf(store, gang, entry.uid);
      const bool lost =
          !view.living() || (view.leaving() && !view.bound() && !IsPosted(member->second.phase));
      if (!lost) continue;
    }
    entry.uid.clear();
    freed = true;
  }
  return freed;
}

// Gives each entry without a pod to a member that has no entry.
void FillSlots(GangStore& store, GangRecord& gang) {
  if (std::ranges::none_of(gang.plan->entries, &std::string::empty, &PlanEntry::uid)) return;
  std::vector<PlanEntry*> open;
  for (PlanEntry& entry : gang.plan->entries) {
    if (entry.uid.empty()) open.push_back(&entry);
  }
  FillEntries(store, gang, &*gang.plan);
  for (const PlanEntry* entry : open) {
    if (entry->uid.empty()) continue;
    Member& member = gang.members.at(entry->uid);
    member.Note(PodEvent::kPlanned);
    member.message = store.cache->FindPod(entry->uid)->scheduled.message;
  }
}

// Grants are what the new pods of a plan are given beside their seats.
struct Grants {
  placement::Bytes memory;
  std::optional<ShrinkChosen> level;
};

void Reserve(GangStore& store, GangRecord& gang, const PlanEntry& entry, const Grants& grants) {
  Member& member = gang.members.at(entry.uid);
  if (!store.MayWrite(member)) return;
  const Pod& pod = *store.cache->FindPod(entry.uid);
  const auto containers = Distribute(pod, entry.seat.gpus);
  if (!containers) return;  // RequestOf() has excluded this; if it happened, the plan's deadline would end it
  member.seat = {entry.seat.node, *containers};
  // Two pods say which gangs made room: one of them may be lost. The list may be long.
  const bool tells = &entry == &gang.plan->entries.front() || &entry == &gang.plan->entries.back();
  Action* action = store.Begin(gang, entry.uid, Kind::kReserve, "",
                               WriteReservation({.plan = gang.plan->id,
                                                 .seat = member.seat,
                                                 .until_s = gang.plan->until_s,
                                                 .again = !gang.plan->whole && gang.placed(),
                                                 .size = gang.plan->size,
                                                 .claims = gang.plan->claim.has_value(),
                                                 .left = tells ? gang.plan->left : std::nullopt}));
  if (action == nullptr) return;
  action->memory = grants.memory;
  if (grants.level) {
    action->shrink = base::TextOf(grants.level->choice);
    action->shrink_why = grants.level->why;
  }
  member.maybe_reserved = true;
}

// Releases the pod to its scheduler. Only pods of our scheduler are nominated to a node: another scheduler
// does not ask this extender.
void Release(GangStore& store, GangRecord& gang, const PlanEntry& entry) {
  const bool ours = store.cache->FindPod(entry.uid)->scheduler == base::kSchedulerName;
  // The text differs each time, because a write that changes nothing makes no scheduler retry the pod.
  store.Begin(gang, entry.uid, Kind::kRelease, ours ? entry.seat.node : "",
              store.epoch + "-" + std::to_string(store.next));
}

// Opens the plan once every entry has a pod with its reservation, or a bound one.
void Open(GangStore& store, GangRecord& gang) {
  const auto reserved = [&](const PlanEntry& entry) {
    return !entry.uid.empty() &&
           (IsReserved(gang.members.at(entry.uid).phase) || ViewOf(store, gang, entry.uid).bound());
  };
  if (std::ranges::all_of(gang.plan->entries, reserved)) gang.plan->Note(PlanEvent::kAllReserved);
}

// Returns whether a bind call has come for the entry's pod, or the pod is bound.
bool IsHere(const GangStore& store, const GangRecord& gang, const PlanEntry& entry) {
  if (entry.uid.empty()) return false;
  const Member& member = gang.members.at(entry.uid);
  return member.bind_handle || HasPassed(member.phase) || ViewOf(store, gang, entry.uid).bound();
}

// Allows the Bindings once a bind call has come for every member that is not bound. From then on no bind of
// this plan is held.
void Pass(GangStore& store, GangRecord& gang) {
  const auto here = [&](const PlanEntry& entry) { return IsHere(store, gang, entry); };
  if (!std::ranges::all_of(gang.plan->entries, here)) return;
  for (const PlanEntry& entry : gang.plan->entries) gang.members.at(entry.uid).Note(PodEvent::kPassed);
}

// Returns the last wave whose pods may be released: all pods of the waves before it are here.
int WaveOf(const GangStore& store, const GangRecord& gang) {
  int wave = std::numeric_limits<int>::max();
  for (const PlanEntry& entry : gang.plan->entries) {
    if (!IsHere(store, gang, entry)) wave = std::min(wave, entry.wave);
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

// Returns how far the gang's plan is. The gang may have shrunk or grown since the plan was made: the smaller
// size counts.
Score ScoreOf(const GangStore& store, const GangRecord& gang) {
  const Head head = CountOf(store, gang);
  const int since = std::max(0, head.done - gang.plan->done);
  return {.here = head.bound + since,
          .leaving = head.leaving,
          .wanted = std::min(gang.plan->size, NeedOf(store, gang, head) + since)};
}

// Returns whether every entry's pod is bound. An entry without a pod counts as bound if the gang is complete
// without it.
bool Done(const GangStore& store, const GangRecord& gang) {
  const Score score = ScoreOf(store, gang);
  const bool all = score.here >= score.wanted;
  return std::ranges::all_of(gang.plan->entries, [&](const PlanEntry& entry) {
    return entry.uid.empty() ? all : ViewOf(store, gang, entry.uid).bound();
  });
}

void Bind(GangStore& store, GangRecord& gang, const std::string& uid) {
  Member& member = gang.members.at(uid);
  if (!store.MayWrite(member)) return;
  member.Note(PodEvent::kPosted);
  store.Begin(gang, uid, Kind::kBind, member.seat.node, WriteAssignment(member.seat.containers));
}

void Finish(GangStore& store, GangRecord& gang) {
  // A plan for a pod that came again does not make the gang complete: other pods may still be missing.
  if (gang.plan->whole) {
    gang.NotePlaced();
    gang.lacking_s.reset();
    gang.complete_s = 0;
  }
  gang.plan.reset();
  gang.failures = 0;
  gang.excluded.clear();
  if (gang.placed()) gang.removal = {};
  store.Say(gang, "");
}

// Adds an entry for a member that has none, if the plan has too few. That happens after a change of leader,
// when some reservations were never written or are lost.
void AddSlots(GangStore& store, GangRecord& gang) {
  int bound = 0;
  const auto seated = gang.plan->seated();
  for (const auto& [uid, member] : gang.members) {
    bound += !seated.contains(uid) && ViewOf(store, uid, member).bound() ? 1 : 0;
  }
  const int entries = static_cast<int>(gang.plan->entries.size());
  if (bound + entries >= ScoreOf(store, gang).wanted || store.now_s < gang.seat_retry_s) return;
  if (Seatless(store, gang).empty() || !store.MaySearch(gang)) return;
  std::string why;
  if (std::optional<PlanEntry> entry = FindSeat(store, gang, &why)) {
    gang.plan->entries.push_back(std::move(*entry));
  } else {
    gang.seat_retry_s = store.now_s + 1;
  }
}

// Returns whether a plan for the whole gang has bound too few members.
bool Lacks(const GangStore& store, const GangRecord& gang) {
  const Score score = ScoreOf(store, gang);
  return gang.plan->whole && score.here + score.leaving < score.wanted;
}

// Excludes the nodes of members that the scheduler calls unschedulable and has not asked to bind. It may have
// said so before the plan was made: a scheduler does not repeat a message, and does not retry a pod for which
// nothing can have changed. Returns its message about one such member, or "" if there is none.
std::string ExcludeRefused(GangStore& store, GangRecord& gang) {
  std::map<std::string, std::string> refused;  // by node
  for (const PlanEntry& entry : gang.plan->entries) {
    const View view = entry.uid.empty() ? View{} : ViewOf(store, gang, entry.uid);
    if (!view.waiting()) continue;
    const Member& member = gang.members.at(entry.uid);
    const Scheduled& said = view.pod->scheduled;
    if (!IsReleased(member.phase) || member.bind_handle || HasPassed(member.phase) || said.yes ||
        said.reason != "Unschedulable")
      continue;
    if (said.message.find(kWaits) == std::string::npos) refused.emplace(entry.seat.node, said.message);
  }
  for (const auto& [node, words] : refused) Exclude(store, gang, node, words);
  return refused.empty() ? "" : gang.excluded.at(refused.begin()->first).why;
}

void RunIntoDeadline(GangStore& store, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  // The gang may have become smaller, and be complete at its new size.
  if (!KnowsSizeNow(store, gang, &plan.asked)) return;
  const std::string why =
      "not all pods of the gang were bound within " + text::Decimal(store.settings.deadline_s) + " s";
  const std::string words = ExcludeRefused(store, gang);
  plan.Note(PlanEvent::kDeadlinePassed);
  Fail(store, gang, words.empty() ? why : why + ": the scheduler says: " + words, false);
}

// Returns what is told of a plan that was taken back. `stays` says why bound pods stay; "": nothing does.
std::string WordsOfFailure(const GangPlan& plan, const std::string& stays) {
  if (!stays.empty()) return plan.why + "; " + stays;
  if (!plan.whole) return "the missing pods of the gang will be placed again: " + plan.why;
  return "the gang will be placed again: " + plan.why + (plan.evicts ? "; its bound pods were evicted" : "");
}

// Returns whether a plan that failed at its deadline is complete after all, because the answers to its
// Bindings came later. That is no longer possible once a member must be deleted.
bool IsWholeAfterAll(const GangStore& store, GangRecord& gang) {
  const bool undone =
      std::ranges::any_of(gang.members, [](const auto& entry) { return Leaves(entry.second.eviction); });
  if (gang.plan->phase != PlanPhase::kLate || undone) return false;
  FreeSlots(store, gang);
  return Done(store, gang) && !Lacks(store, gang);
}

}  // namespace

std::string Beginning(const std::string& message) {
  return std::string(text::Truncate(message, kMostOfAMessage));
}

void Exclude(GangStore& store, GangRecord& gang, const std::string& node, const std::string& words) {
  Exclusion& exclusion = gang.excluded[node];
  exclusion.until_s =
      store.now_s + Grown(store.settings.exclude_s, store.settings.most_exclude_s, exclusion.times++);
  exclusion.why = Beginning(words);
}

void Fail(GangStore& store, GangRecord& gang, std::string why, bool at_once) {
  if (gang.plan->claim) EndClaim(store, gang, ClaimEnd::kIncomplete);
  gang.plan->Note(PlanEvent::kFailed);
  gang.plan->at_once = at_once;
  for (const PlanEntry& entry : gang.plan->entries) {
    const auto member = gang.members.find(entry.uid);
    if (member != gang.members.end() && !IsPosted(member->second.phase)) store.Answer(member->second, why);
  }
  gang.plan->why = std::move(why);
  store.dirty.insert(gang.membership.id);
}

void CarryOut(GangStore& store, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  if (FreeSlots(store, gang) && plan.phase != PlanPhase::kOpen)
    return Fail(store, gang, "a pod of the gang has ended, or is deleted", true);
  AddSlots(store, gang);
  FillSlots(store, gang);
  // A pod vanished and was not replaced: the job may have shrunk and be complete without it, so its size is
  // read again.
  const bool in_time = store.now_s <= plan.until_s;
  if (in_time && std::ranges::any_of(plan.entries, &std::string::empty, &PlanEntry::uid))
    DoubtSize(store, gang);
  std::optional<Grants> grants;
  for (const PlanEntry& entry : plan.entries) {
    if (entry.uid.empty() || ViewOf(store, gang, entry.uid).bound()) continue;
    if (IsReserved(gang.members.at(entry.uid).phase)) continue;
    if (!grants) grants = {ToGrant(store, gang), LevelFor(store, gang)};
    Reserve(store, gang, entry, *grants);
  }
  if (plan.claim) return MakeRoom(store, gang);
  Open(store, gang);
  // After its deadline the plan does not lift gates and does not post Bindings.
  if (plan.phase == PlanPhase::kOpen && in_time) {
    Pass(store, gang);
    const int wave = WaveOf(store, gang);
    for (const PlanEntry& entry : plan.entries) {
      if (entry.uid.empty() || ViewOf(store, gang, entry.uid).bound()) continue;
      const Member& member = gang.members.at(entry.uid);
      if (!IsReserved(member.phase)) continue;
      if (!IsReleased(member.phase)) {
        if (entry.wave > wave) continue;
        Release(store, gang, entry);
      } else if (HasPassed(member.phase)) {
        Bind(store, gang, entry.uid);
      }
    }
  }
  if (Done(store, gang) && !Lacks(store, gang)) return Finish(store, gang);
  if (!in_time) RunIntoDeadline(store, gang);
}

void TakeBack(GangStore& store, GangRecord& gang) {
  GangPlan& plan = *gang.plan;
  bool settled = true;
  for (PlanEntry& entry : plan.entries) {
    const auto found = gang.members.find(entry.uid);
    if (found == gang.members.end()) continue;
    const View view = ViewOf(store, gang, entry.uid);
    Member& member = found->second;
    if (!view.living() || view.bound()) continue;
    settled &= member.in_flight == 0 && !IsPosted(member.phase);
    if (IsPosted(member.phase)) Bind(store, gang, entry.uid);
  }
  if (!settled) return;
  if (IsWholeAfterAll(store, gang)) return Finish(store, gang);
  if (plan.whole && !Remove(store, gang)) {
    plan.evicts |= gang.removal.state == RemovalState::kEvicting;
    return;
  }
  for (auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living() || view.bound() || !view.may_have_reservation()) continue;
    store.Begin(gang, uid, Kind::kClear, "", "");
    settled = false;
  }
  if (!settled) return;
  if (!plan.at_once) {
    gang.hold_until_s =
        store.now_s + Grown(store.settings.hold_off_s, store.settings.most_hold_off_s, gang.failures++);
  }
  const std::string stays = WhyTheyStay(gang);
  if (plan.evicts && stays.empty()) gang.evicted_for = plan.why;
  store.Say(gang, WordsOfFailure(plan, stays));
  gang.removal.state = RemovalState::kNone;
  // This plan was for a pod that came again and was not bound. The seat stays with the gang.
  if (!plan.whole) {
    for (PlanEntry& entry : plan.entries) {
      const auto member = gang.members.find(entry.uid);
      const bool has = member != gang.members.end() && ViewOf(store, gang, entry.uid).bound();
      if (!has) gang.Vacate(std::move(entry.seat), std::move(entry.of), store.now_s);
    }
  }
  for (auto& [uid, member] : gang.members) {
    member.Note(PodEvent::kPlanned);
    member.tellings = 0;  // the next reason is a new one
  }
  gang.plan.reset();
  store.replan = true;
  store.dirty.insert(gang.membership.id);
}

}  // namespace crossover::extender
