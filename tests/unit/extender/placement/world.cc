#include "tests/unit/extender/placement/world.h"

#include <algorithm>

#include "extender/placement/users.h"
#include "tests/unit/extender/placement/referee.h"

namespace crossover::placement {

World::World(std::uint64_t seed, const Lies& lies) : random_(seed), lies_(lies) {
  state_.nodes = Nodes(2 + Random(3), 2 + Random(3));
  const int slots = 2 + Random(3);
  const bool mixed = Random(3) == 0;
  for (Node& node : state_.nodes) {
    node.one_user = Random(2) == 0;
    if (Random(2) == 0)
      node.domains = {"zone" + std::to_string(Random(2)), "rack" + std::to_string(Random(2))};
    for (Gpu& gpu : node.gpus) {
      gpu.slots = mixed && Random(4) == 0 ? 1 : slots;
      gpu.memory = (mixed && Random(3) == 0 ? 40 : 80) * kGib;
    }
  }
  settings_.sharing = Random(2) == 0 ? Sharing::kWhenFull : Sharing::kAlways;
  if (Random(2) == 0) settings_.namespace_groups = {{"alpha", "beta"}, {"gamma"}};
}

void World::Arrive() {
  static const char* const kSpaces[] = {"alpha", "beta", "gamma"};
  static const std::int32_t kRanks[] = {-10, 0, 0, 1000};
  Gang gang;
  gang.id = "g" + std::to_string(gangs_++);
  gang.space = kSpaces[Random(3)];
  gang.name = gang.space + "-" + gang.id + "-";
  gang.key = gang.space + std::to_string(Random(3));
  gang.pods = 1 << Random(3);
  gang.gpus_per_pod = 1 + Random(4) / 3;
  gang.exclusive = Random(10) == 0;
  gang.consent = Random(3) == 0 ? Consent::kNamespace : Consent::kCluster;
  gang.priority = static_cast<Priority>(Random(3));
  gang.rank = kRanks[Random(4)];
  gang.preempts = Random(5) > 0;
  gang.max_slowdown = Random(3) == 0 ? 1.1 + 0.1 * Random(15) : 0;
  gang.memory_cap = Random(4) == 0 ? 0 : static_cast<Bytes>(5 + Random(30)) * kGib;
  gang.uid = static_cast<std::uint32_t>(1000 + Random(4) / 3);
  if (Random(6) == 0) gang.users = static_cast<Users>(1 + Random(3));
  gang.arrived_s = now_s_;
  gang.profile.compute_s = 0.001 * (1 + Random(20));
  gang.profile.exposed_s = 0.001 * Random(40);
  gang.profile.link_s = gang.profile.exposed_s * Random(2);
  gang.profile.spinning = 0.1 * Random(3);
  gang.profile.peak_memory = static_cast<Bytes>(5 + Random(30)) * kGib;
  gang.profile.source = learnt_.contains(gang.key) ? Source::kMeasured : static_cast<Source>(Random(2));
  waiting_.push_back(gang);
}

void World::End() {
  if (state_.placed.empty()) return;
  const auto ended = state_.placed.begin() + Random(static_cast<int>(state_.placed.size()));
  if (Random(3) == 0) {  // and its job comes again
    waiting_.push_back(ended->gang);
    waiting_.back().arrived_s = now_s_;
  }
  state_.placed.erase(ended);
}

// The gangs with pods on the node are gone at once, or they stay, as if nothing had removed their pods yet.
void World::LoseNode() {
  if (state_.nodes.size() < 2) return;
  const auto node = state_.nodes.begin() + Random(static_cast<int>(state_.nodes.size()));
  lost_.push_back(*node);
  if (Random(2) == 0) {
    std::erase_if(state_.placed, [&](const Placed& placed) {
      return std::ranges::any_of(placed.seats, [&](const Seat& seat) { return seat.node == node->name; });
    });
  }
  state_.nodes.erase(node);
}

void World::ReturnNode() {
  if (lost_.empty()) return;
  state_.nodes.push_back(lost_.back());
  lost_.pop_back();
}

void World::ChangeNode() {
  Node& node = state_.nodes[static_cast<std::size_t>(Random(static_cast<int>(state_.nodes.size())))];
  if (Random(2) == 0) {
    node.open = !node.open;
  } else {
    Gpu& gpu = node.gpus[static_cast<std::size_t>(Random(static_cast<int>(node.gpus.size())))];
    gpu.healthy = !gpu.healthy;
  }
}

void World::Learn() {
  if (state_.placed.empty()) return;
  const auto learnt = state_.placed.begin() + Random(static_cast<int>(state_.placed.size()));
  learnt_.insert(learnt->gang.key);
  if (Random(4) == 0) state_.observed.push_back({learnt->gang.key, "alpha0", 0.8 + 0.1 * Random(8)});
}

void World::LosePod() {
  if (state_.placed.empty()) return;
  auto& seats = state_.placed[static_cast<std::size_t>(Random(static_cast<int>(state_.placed.size())))].seats;
  if (seats.size() > 1) seats.erase(seats.begin() + Random(static_cast<int>(seats.size())));
}

std::string World::Decide() {
  State told = state_;
  std::vector<Gang> asked = waiting_;
  for (Placed& placed : told.placed) {
    lies_.about_gang(placed.gang);
    lies_.about_placed(placed);
  }
  for (Gang& gang : asked) lies_.about_gang(gang);
  for (Node& node : told.nodes) lies_.about_node(node);
  Decision decision = placement::Decide(told, asked, now_s_, settings_, LimitedByUser(told, FitsAnywhere));
  std::string fault = FaultOfLower(told, asked, decision);
  lies_.in_decision(decision);
  if (fault.empty()) fault = FaultOf(state_, waiting_, decision, settings_);
  if (!fault.empty()) return fault;  // it may be impossible to carry out
  for (const Refusal& refusal : decision.refusals) reasons_.insert(refusal.reason);
  CarryOut(decision);
  return "";
}

// Decides again without the gangs of the lowest rank. Returns a fault if the others get something else then,
// or "".
std::string World::FaultOfLower(const State& told, const std::vector<Gang>& asked, const Decision& decision) {
  if (waiting_.empty() || Random(4) > 0) return "";
  const std::int32_t lowest = std::ranges::min_element(waiting_, {}, &Gang::rank)->rank;
  std::vector<Gang> higher;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].rank > lowest) higher.push_back(asked[i]);
  }
  const Decision alone =
      placement::Decide(told, higher, now_s_, settings_, LimitedByUser(told, FitsAnywhere));
  for (const Gang& gang : higher) {
    const auto plan = std::ranges::find(decision.plans, gang.id, &Plan::gang);
    const auto other = std::ranges::find(alone.plans, gang.id, &Plan::gang);
    const bool has = plan != decision.plans.end(), had = other != alone.plans.end();
    if (has != had || (has && (plan->seats != other->seats || plan->beside != other->beside)))
      return "a lower rank changes what a higher one gets: " + gang.id;
  }
  const auto victims = [&](const Decision& of) {
    const auto is_one = [&](const Gang& gang) { return of.preemption && gang.id == of.preemption->gang; };
    return std::ranges::any_of(higher, is_one) ? of.preemption->victims : std::vector<std::string>();
  };
  if (victims(decision) != victims(alone)) return "a lower rank changes who leaves";
  return "";
}

// One bind in eight fails, and its gang waits again.
void World::CarryOut(const Decision& decision) {
  for (const Plan& plan : decision.plans) {
    met_ += !plan.beside.empty();
    if (Random(8) > 0) Settle(plan.gang, plan.seats);
  }
  if (decision.preemption && Random(8) > 0) MakeRoom(*decision.preemption);
}

// The victims leave, and some of them wait again.
void World::MakeRoom(const Preemption& preemption) {
  ++made_room_;
  for (const std::string& id : preemption.victims) {
    const auto victim =
        std::ranges::find(state_.placed, id, [](const Placed& placed) { return placed.gang.id; });
    if (Random(2) == 0) waiting_.push_back(victim->gang);
    state_.placed.erase(victim);
  }
  Settle(preemption.gang, preemption.seats);
}

void World::Settle(const std::string& id, const std::vector<Seat>& seats) {
  static const Leave kLeaves[] = {Leave::kSpared, Leave::kForbidden, Leave::kNever};
  const auto gang = std::ranges::find(waiting_, id, &Gang::id);
  Placed placed{.gang = *gang, .seats = seats, .started_s = now_s_};
  placed.leave = Random(4) > 0 ? Leave::kMay : kLeaves[Random(3)];
  state_.placed.push_back(std::move(placed));
  waiting_.erase(gang);
}

std::string World::Step() {
  now_s_ += 60 * Random(20);
  switch (Random(17)) {
    case 0:
      LoseNode();
      break;
    case 1:
      ReturnNode();
      break;
    case 2:
      ChangeNode();
      break;
    case 3:
      Learn();
      break;
    case 16:
      LosePod();
      break;
    case 4:
    case 5:
    case 6:
      End();
      break;
    case 7:
    case 8:
    case 9:
      return Decide();
    default:
      Arrive();
  }
  return "";
}

}  // namespace crossover::placement
