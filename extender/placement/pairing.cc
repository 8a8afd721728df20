#include "extender/placement/pairing.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "extender/placement/approx_matching.h"

namespace crossover::placement {
namespace {

double Weight(double added, bool spans, const Settings& settings) {
  return added * (spans ? 1 + settings.spanning_bonus : 1);
}

void AddPairs(std::span<const Gang* const> waiting, const GpuSetSpec& site, const Context& context,
              std::vector<Edge>& edges) {
  for (std::size_t a = 0; a < waiting.size(); ++a) {
    const std::array there{waiting[a]};
    for (std::size_t b = a + 1; b < waiting.size(); ++b) {
      if (waiting[a]->gpus() % std::lcm(waiting[a]->gpus_per_pod, waiting[b]->gpus_per_pod) != 0) continue;
      Prediction together;
      if (FirstViolation({there, *waiting[b], site, context.history, context.settings}, &together)) continue;
      edges.push_back({static_cast<int>(a), static_cast<int>(b),
                       Weight(together.gain - 1, site.spans, context.settings)});
    }
  }
}

void AddJoins(const Occupancy& occupancy, std::span<const Gang* const> waiting,
              const std::vector<int>& groups, const Context& context, std::vector<Edge>& edges) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = occupancy.groups()[static_cast<std::size_t>(groups[g])];
    const double before = Expect(group.gangs, group.site.spans, context.history, context.settings).gain;
    for (std::size_t a = 0; a < waiting.size(); ++a) {
      Prediction together;
      if (WhyNotJoin(occupancy, group, *waiting[a], context, &together)) continue;
      edges.push_back({static_cast<int>(a), static_cast<int>(waiting.size() + g),
                       Weight(together.gain - before, group.site.spans, context.settings)});
    }
  }
}

}  // namespace

GpuSetSpec BestGpuSet(const State& state, int gpus) {
  GpuSetSpec site{.one_user = true};
  std::size_t most = 0;
  for (const Node& node : state.nodes) {
    if (!node.open) continue;
    most = std::max(most, node.gpus.size());
    site.one_user &= node.one_user;
    for (const Gpu& gpu : node.gpus) {
      site.slots = std::max(site.slots, gpu.slots);
      site.memory = std::max(site.memory, gpu.memory);
    }
  }
  site.spans = gpus > static_cast<int>(most);
  return site;
}

std::map<const Gang*, Partner> ChoosePartners(const Occupancy& occupancy,
                                              std::span<const Gang* const> waiting, bool pairs,
                                              const Context& context) {
  if (waiting.empty()) return {};
  const int count = waiting.front()->gpus();
  std::vector<int> groups;
  for (int g = 0; g < static_cast<int>(occupancy.groups().size()); ++g) {
    const Group& group = occupancy.groups()[static_cast<std::size_t>(g)];
    const bool room = static_cast<int>(group.gangs.size()) < group.site.slots;
    if (room && static_cast<int>(group.gpus.size()) == count) groups.push_back(g);
  }
  std::vector<Edge> edges;
  if (pairs) AddPairs(waiting, BestGpuSet(occupancy.state(), count), context, edges);
  AddJoins(occupancy, waiting, groups, context, edges);

  std::map<const Gang*, Partner> partners;
  const int vertices = static_cast<int>(waiting.size() + groups.size());
  for (const int chosen : ApproxHeaviestMatching(vertices, edges).edges) {
    const Edge& edge = edges[static_cast<std::size_t>(chosen)];
    const Gang* gang = waiting[static_cast<std::size_t>(edge.a)];
    const std::size_t other = static_cast<std::size_t>(edge.b);
    if (other >= waiting.size()) {
      partners[gang] = {.gang = nullptr, .group = groups[other - waiting.size()]};
    } else {
      partners[gang] = {.gang = waiting[other], .group = -1};
      partners[waiting[other]] = {.gang = gang, .group = -1};
    }
  }
  return partners;
}

}  // namespace crossover::placement
