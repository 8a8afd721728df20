#include "extender/gang/planner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/names.h"
#include "extender/gang/demands.h"
#include "extender/gang/departure.h"
#include "extender/gang/grants.h"
#include "extender/gang/leave.h"
#include "extender/gang/made_room.h"
#include "extender/gang/need.h"
#include "extender/gang/request.h"
#include "extender/gang/room.h"
#include "extender/gang/seat_order.h"
#include "extender/gang/snapshot.h"
#include "extender/placement/engine.h"
#include "extender/placement/memory.h"

namespace crossover::extender {

std::vector<std::string> Seatless(const GangStore& store, const GangRecord& gang) {
  std::vector<std::string> uids;
  const auto seated = gang.plan ? gang.plan->seated() : std::unordered_set<std::string_view>();
  for (const auto& [uid, member] : gang.members) {
    if (ViewOf(store, uid, member).waiting() && !seated.contains(uid)) uids.push_back(uid);
  }
  std::ranges::sort(uids, [&gang](const std::string& a, const std::string& b) {
    return gang.members.at(a).rank < gang.members.at(b).rank;
  });
  return uids;
}

void FillEntries(const GangStore& store, const GangRecord& gang, GangPlan* plan) {
  std::vector<std::string> uids = Seatless(store, gang);
  const auto give = [&](PlanEntry& entry, std::vector<std::string>::iterator uid) {
    entry.uid = *uid;
    entry.of = gang.members.at(*uid).rank;
    uids.erase(uid);
  };
  for (PlanEntry& entry : plan->entries) {
    if (!entry.uid.empty() || !entry.of) continue;
    const auto same = std::ranges::find_if(
        uids, [&](const std::string& uid) { return StandsFor(*entry.of, gang.members.at(uid).rank); });
    if (same != uids.end()) give(entry, same);
  }
  for (PlanEntry& entry : plan->entries) {
    if (entry.uid.empty() && !uids.empty()) give(entry, uids.begin());
  }
}

std::vector<PlanEntry> EntriesOf(std::vector<placement::Seat> seats) {
  std::vector<PlanEntry> entries;
  for (placement::Seat& seat : seats) entries.push_back({.seat = std::move(seat), .uid = ""});
  return entries;
}

void StartPlan(GangStore& store, GangRecord& gang, std::vector<PlanEntry> entries, bool whole) {
  const int pods = static_cast<int>(entries.size());
  GangPlan plan{.id = store.epoch + "-" + std::to_string(store.next++), .entries = std::move(entries)};
  plan.until_s = store.now_s + store.settings.deadline_s;
  plan.whole = whole;
  const Head head = CountOf(store, gang);
  if (whole) {
    gang.ended_before = gang.membership.size - (pods > 0 ? pods : NeedOf(store, gang, head));
  } else {
    gang.Widen(head.bound + static_cast<int>(gang.vacant.size()) + pods);
  }
  plan.size = gang.set_size();
  plan.done = head.done;
  FillEntries(store, gang, &plan);
  for (auto& [uid, member] : gang.members) {
    if (ViewOf(store, uid, member).bound()) continue;
    member.Note(PodEvent::kPlanned);
    const Pod* pod = store.cache->FindPod(uid);
    member.message = pod == nullptr ? "" : pod->scheduled.message;
  }
  gang.plan = std::move(plan);
  gang.demand = Demand::kNone;
  store.dirty.insert(gang.membership.id);
}

namespace {

// Sets the order in which the pods of the plan are released, if the gang's constraints ask for one.
void SetWaves(const placement::State& state, const placement::Gang& gang, GangPlan* plan) {
  if (gang.divisions.empty()) return;
  std::vector<int> nodes;
  for (const PlanEntry& entry : plan->entries) {
    const auto node = std::ranges::find(state.nodes, entry.seat.node, &placement::Node::name);
    nodes.push_back(static_cast<int>(node - state.nodes.begin()));
  }
  const auto waves = placement::WavesOf(gang.divisions, nodes);
  for (std::size_t i = 0; waves && i < nodes.size(); ++i) plan->entries[i].wave = (*waves)[i];
}

// Returns for how many pods the gang wants a place, of `there` that wait: all that are left of it, or only
// its minimum once it found no place for them. Returns 0 if too few wait.
int AskedOf(const GangStore& store, const GangRecord& gang, int there) {
  const int need = NeedOf(store, gang, CountOf(store, gang));
  const int least = LeastOf(store, gang, need);
  if (need == 0 || there < least) return 0;
  return gang.demand == Demand::kLeast ? least : std::min(there, need);
}

constexpr int kMostTries = 4;  // decisions, if a budget has pods of several gangs that would leave

// Returns what the engine decides. A budget may allow that each of two gangs leaves, and not both: then the
// first of them counts as one that it forbids, and the engine decides again.
placement::Decision DecideFor(GangStore& store, const std::vector<placement::Gang>& waiting,
                              placement::State* state) {
  MarkWhoMayLeave(store, waiting, state);
  const placement::Fitness fitness = FitnessOf(store, *state);
  for (int tries = 1;; ++tries) {
    placement::Decision decision =
        placement::Decide(*state, waiting, store.now_s, store.settings.placement, fitness);
    if (!decision.preemption) return decision;
    const std::vector<std::string>& victims = decision.preemption->victims;
    if (WhyTheyMayNotLeave(store, victims).empty()) return decision;
    for (placement::Placed& placed : state->placed) {
      const bool stays = tries >= kMostTries || placed.gang.id == victims.front();
      if (stays && placed.leave == placement::Leave::kMay) placed.leave = placement::Leave::kForbidden;
    }
  }
}

// Terms are what a gang gets with a place, beside its seats.
struct Terms {
  placement::Bytes granted = 0;  // of each GPU's memory
  bool level = false;            // whether its level of compressed reductions is chosen for it
};

// Returns the gangs that may be decided about, as the engine needs them. Sets the terms of each, by gang.
std::vector<placement::Gang> ReadyGangs(GangStore& store, std::map<std::string, Terms>* terms) {
  std::vector<placement::Gang> waiting;
  for (auto& [id, gang] : store.gangs) {
    if (gang.demand == Demand::kNone) continue;
    std::vector<const Pod*> pods;
    for (const std::string& uid : Seatless(store, gang)) pods.push_back(store.cache->FindPod(uid));
    const int asked = AskedOf(store, gang, static_cast<int>(pods.size()));
    if (asked == 0) continue;
    pods.resize(static_cast<std::size_t>(asked));
    Request request = RequestOf(gang.membership, pods, asked, *store.cache);
    gang.fault = request.fault;
    if (request.fault.empty()) {
      // A new pod does not reduce the gang's waiting time: the time since it was first complete counts.
      if (gang.complete_s == 0) gang.complete_s = request.gang.arrived_s;
      request.gang.arrived_s = gang.complete_s;
      // A gang that made room keeps its age.
      if (MadeRoomOf(store, gang) != nullptr) request.gang.arrived_s = AgeOf(store, gang);
      (*terms)[id] = {
          .granted = request.names_memory ? 0 : placement::CapOf(request.gang, store.settings.placement),
          .level = LeavesLevelToUs(*pods.front())};
      waiting.push_back(std::move(request.gang));
    } else {
      store.Say(gang, request.fault);
    }
  }
  return waiting;
}

// Records an event on the first pod of a plan.
void TellFirst(GangStore& store, const GangPlan& plan, const char* reason, std::string text) {
  const Pod* pod = plan.entries.empty() ? nullptr : store.cache->FindPod(plan.entries.front().uid);
  if (text.empty() || pod == nullptr || store.tell_room == 0) return;
  --store.tell_room;
  store.actions.push_back({.kind = Action::Kind::kTell,
                           .pod = {.uid = pod->uid, .name_space = pod->name_space, .name = pod->name},
                           .text = std::move(text),
                           .reason = reason});
}

// Returns the gangs that have GPUs once the decision is carried out.
std::vector<Occupant> OccupantsAfter(const placement::Decision& decision,
                                     const std::vector<placement::Gang>& waiting,
                                     const placement::State& state) {
  std::vector<Occupant> occupants;
  for (const placement::Placed& placed : state.placed) {
    const bool leaves =
        decision.preemption &&
        std::ranges::find(decision.preemption->victims, placed.gang.id) != decision.preemption->victims.end();
    if (!leaves) occupants.push_back({&placed.gang, &placed.seats});
  }
  const auto add = [&](const std::string& id, const std::vector<placement::Seat>& seats) {
    occupants.push_back({&*std::ranges::find(waiting, id, &placement::Gang::id), &seats});
  };
  for (const placement::Plan& plan : decision.plans) add(plan.gang, plan.seats);
  if (decision.preemption) add(decision.preemption->gang, decision.preemption->seats);
  return occupants;
}

std::string TextOf(const ShrinkChosen& chosen) {
  return std::string(base::kShrinkAnnotation) + ": auto is " + base::TextOf(chosen.choice) + ": " +
         chosen.why;
}

void Refuse(GangStore& store, const std::vector<placement::Refusal>& refusals) {
  for (const placement::Refusal& refusal : refusals) {
    const auto gang = store.gangs.find(refusal.gang);
    if (gang == store.gangs.end()) continue;
    store.Say(gang->second, refusal.text);
    store.dirty.insert(refusal.gang);
    const int need = NeedOf(store, gang->second, CountOf(store, gang->second));
    if (gang->second.demand != Demand::kAll || LeastOf(store, gang->second, need) == need) continue;
    gang->second.demand = Demand::kLeast;
    store.replan = true;
  }
}

}  // namespace

void PlanWaiting(GangStore& store) {
  store.replan = false;
  std::map<std::string, Terms> terms;  // by gang
  std::vector<placement::Gang> waiting = ReadyGangs(store, &terms);
  if (waiting.empty()) return store.kept.reset();
  placement::State state = SnapshotOf(store);
  state.kept = std::move(store.kept);
  SetDivisions(store, state, waiting);
  const placement::Decision decision = DecideFor(store, waiting, &state);
  store.kept = decision.kept;
  Refuse(store, decision.refusals);
  const std::vector<Occupant> occupants = OccupantsAfter(decision, waiting, state);
  const auto begin = [&](const std::string& id, const std::vector<placement::Seat>& seats,
                         const auto& start) {
    const auto gang = store.gangs.find(id);
    if (gang == store.gangs.end()) return;
    const placement::Gang& asked = *std::ranges::find(waiting, id, &placement::Gang::id);
    SeatOrder order = OrderSeats(store, gang->second, state, asked, seats);
    gang->second.granted = terms.at(id).granted;
    gang->second.chosen.reset();
    if (terms.at(id).level) Choose(store, gang->second, state, {&asked, &seats}, occupants);
    start(gang->second, std::move(order.seats));
    SetWaves(state, asked, &*gang->second.plan);
    TellFirst(store, *gang->second.plan, "PodsMapped", std::move(order.why));
    if (gang->second.chosen)
      TellFirst(store, *gang->second.plan, "ReductionsChosen", TextOf(*gang->second.chosen));
  };
  using Seats = std::vector<placement::Seat>;
  for (const placement::Plan& plan : decision.plans) {
    begin(plan.gang, plan.seats, [&store](GangRecord& gang, Seats seats) {
      StartPlan(store, gang, EntriesOf(std::move(seats)), true);
    });
  }
  if (!decision.preemption) return;
  const placement::Preemption& room = *decision.preemption;
  begin(room.gang, room.seats,
        [&](GangRecord& gang, Seats seats) { StartClaim(store, gang, std::move(seats), room.victims); });
}

}  // namespace crossover::extender
