#include "tests/unit/extender/placement/cluster.h"

#include <algorithm>

namespace crossover::placement {

std::vector<Node> Nodes(int nodes, int gpus) {
  std::vector<Node> made;
  for (int n = 0; n < nodes; ++n) {
    Node node;
    node.name = "n" + std::to_string(n);
    for (int g = 0; g < gpus; ++g) {
      node.gpus.push_back({.uuid = node.name + "-" + std::to_string(g), .memory = 80 * kGib});
    }
    made.push_back(std::move(node));
  }
  return made;
}

Gang Job(const std::string& id, int gpus) {
  Gang gang;
  gang.id = id;
  gang.name = "name-of-" + id;
  gang.space = "team";
  gang.pods = gpus;
  gang.gpus_per_pod = 1;
  gang.memory_cap = 20 * kGib;
  gang.profile = {.source = Source::kMeasured, .compute_s = 0.010, .exposed_s = 0.010};
  return gang;
}

Placed On(const Gang& gang, std::vector<Seat> seats) { return {.gang = gang, .seats = std::move(seats)}; }

Placed OnAll(const Gang& gang, const std::vector<Node>& nodes) {
  Placed placed{.gang = gang, .seats = {}};
  for (const Node& node : nodes) {
    for (const Gpu& gpu : node.gpus) placed.seats.push_back({.node = node.name, .gpus = {gpu.uuid}});
  }
  return placed;
}

State After(State state, const std::vector<Gang>& waiting, const Decision& decision) {
  for (const Plan& plan : decision.plans) {
    const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
    state.placed.push_back({.gang = *gang, .seats = plan.seats});
  }
  return state;
}

const Plan* PlanFor(const Decision& decision, const std::string& gang) {
  const auto found = std::ranges::find(decision.plans, gang, &Plan::gang);
  return found == decision.plans.end() ? nullptr : &*found;
}

const Refusal* RefusalOf(const Decision& decision, const std::string& gang) {
  const auto found = std::ranges::find(decision.refusals, gang, &Refusal::gang);
  return found == decision.refusals.end() ? nullptr : &*found;
}

std::vector<std::string> GpusOf(const Plan& plan) {
  std::vector<std::string> gpus;
  for (const Seat& seat : plan.seats) gpus.insert(gpus.end(), seat.gpus.begin(), seat.gpus.end());
  std::ranges::sort(gpus);
  return gpus;
}

}  // namespace crossover::placement
