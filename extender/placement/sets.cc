#include "extender/placement/sets.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace crossover::placement {
namespace {

// An Offer says what one node could give, in units (UnitOf()).
struct Offer {
  int node = 0;
  int units = 0;
  int idle = 0;              // units, out of `units`, that have no gang on them
  std::vector<GpuRef> gpus;  // idle ones first
};

// A Choice is a selection of offers. The smaller its Rank(), the better.
struct Choice {
  std::vector<const Offer*> offers;
  std::vector<int> taken{};  // units of each offer
  int busy = 0;              // units
  int nodes = 0;
  int left = 0;  // units that remain on the chosen nodes
  auto Rank() const { return std::tuple(busy, nodes, left); }
  void Add(const Offer& offer, int units) {
    offers.push_back(&offer);
    taken.push_back(units);
    busy += std::max(0, units - offer.idle);
    left += offer.units - units;
    ++nodes;
  }
};

bool Usable(const Occupancy& occupancy, GpuRef ref, const Wanted& wanted, bool ever) {
  const Gpu& gpu = occupancy.gpu(ref);
  if (gpu.slots < wanted.slots) return false;
  // A gang that is alone may have a GPU of unknown memory: the limit of its own memory is its own matter.
  const bool alone_on_unknown = gpu.memory == 0 && wanted.gangs.size() == 1;
  if (gpu.memory < wanted.memory && !alone_on_unknown) return false;
  if (wanted.many_users && occupancy.node(ref.node).one_user) return false;
  if (!wanted.among.empty() && !std::ranges::binary_search(wanted.among, ref)) return false;
  if (!ever) return occupancy.Free(ref);
  return gpu.healthy && occupancy.node(ref.node).open;
}

Offer OfferOf(const Occupancy& occupancy, int node, const Wanted& wanted, const Fitness& fitness, bool ever) {
  Offer offer;
  offer.node = node;
  const int gpus = static_cast<int>(occupancy.node(node).gpus.size());
  for (int g = 0; g < gpus; ++g) {
    if (Usable(occupancy, {node, g}, wanted, ever)) offer.gpus.push_back({node, g});
  }
  const int unit = UnitOf(wanted.gangs);
  offer.units = static_cast<int>(offer.gpus.size()) / unit;
  if (offer.units == 0) return offer;
  for (const Gang* gang : wanted.gangs) {
    const Fit fit = fitness(*gang, node, occupancy.planned(node));
    const int pods = ever ? fit.ever : std::min(fit.pods, fit.ever);
    offer.units = std::min(offer.units, pods * gang->gpus_per_pod / unit);
  }
  std::stable_partition(offer.gpus.begin(), offer.gpus.end(),
                        [&](GpuRef ref) { return !occupancy.Busy(ref); });
  const auto idle = std::ranges::count_if(offer.gpus, [&](GpuRef ref) { return !occupancy.Busy(ref); });
  offer.idle = std::min(offer.units, static_cast<int>(idle) / unit);
  return offer;
}

auto Size(const Offer& offer) { return std::pair(offer.idle, offer.units); }

// Chooses among the offers of one domain: the fewest busy GPUs, then the fewest nodes. It takes the largest
// offers, and as the last one the smallest that suffices. Returns nothing where all offers are too few.
std::optional<Choice> Choose(std::vector<const Offer*> offers, int units) {
  std::ranges::sort(offers, [](const Offer* a, const Offer* b) {
    return Size(*a) != Size(*b) ? Size(*a) > Size(*b) : a->node < b->node;
  });
  Choice choice;
  while (units > 0 && !offers.empty()) {
    const auto suffices = [&](const Offer* o) { return o->idle >= units; };
    auto next = offers.begin();
    if (suffices(*next)) next = std::ranges::find_if_not(offers, suffices) - 1;
    while (next != offers.begin() && Size(**(next - 1)) == Size(**next)) --next;
    const Offer& offer = **next;
    const int taken = std::min(units, offer.units);
    choice.Add(offer, taken);
    units -= taken;
    offers.erase(next);
  }
  if (units > 0) return std::nullopt;
  return choice;
}

// Chooses among the offers of one domain as the gangs' own constraints permit: no busy GPUs if possible, then
// few nodes. A unit is one pod. Returns nothing where they permit none.
std::optional<Choice> ChooseDivided(const std::vector<const Offer*>& offers, int units,
                                    std::span<const Division> divisions, bool ever) {
  for (const bool busy : {false, true}) {
    std::vector<Room> rooms;
    for (const Offer* offer : offers) rooms.push_back({offer->node, busy ? offer->units : offer->idle});
    const auto gets = Divide(divisions, rooms, units, ever);
    if (!gets) continue;
    Choice choice;
    for (std::size_t o = 0; o < offers.size(); ++o) {
      if ((*gets)[o] > 0) choice.Add(*offers[o], (*gets)[o]);
    }
    return choice;
  }
  return std::nullopt;
}

// Returns the domain of a node at a level. Level 0 is the whole cluster; each level lies within the one
// before.
std::vector<std::string> DomainOf(const Node& node, std::size_t level) {
  const std::size_t length = std::min(level, node.domains.size());
  return {node.domains.begin(), node.domains.begin() + static_cast<std::ptrdiff_t>(length)};
}

using Chooser = std::function<std::optional<Choice>(std::vector<const Offer*> offers)>;

std::optional<Choice> ChooseAt(const Occupancy& occupancy, const std::vector<Offer>& offers,
                               std::size_t level, const Chooser& choose) {
  std::map<std::vector<std::string>, std::vector<const Offer*>> by_domain;
  for (const Offer& offer : offers) {
    const Node& node = occupancy.node(offer.node);
    if (node.domains.size() >= level) by_domain[DomainOf(node, level)].push_back(&offer);
  }
  std::optional<Choice> best;
  for (auto& [domain, members] : by_domain) {
    const std::optional<Choice> choice = choose(std::move(members));
    if (choice && (!best || choice->Rank() < best->Rank())) best = choice;
  }
  return best;
}

// Returns the constraints of all gangs.
std::vector<Division> DivisionsOf(const Wanted& wanted) {
  std::vector<Division> divisions;
  for (const Gang* gang : wanted.gangs)
    divisions.insert(divisions.end(), gang->divisions.begin(), gang->divisions.end());
  return divisions;
}

std::vector<GpuRef> Find(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness,
                         bool ever) {
  const int unit = UnitOf(wanted.gangs);
  const int count = wanted.gangs.front()->gpus();
  if (count % unit != 0) return {};
  const std::vector<Division> divisions = DivisionsOf(wanted);
  const bool divided = !divisions.empty();
  // The constraints count pods, so a unit must be one pod of each gang.
  if (divided && count / unit != wanted.gangs.front()->pods) return {};
  if (divided && count / unit != wanted.gangs.back()->pods) return {};
  const Chooser choose = [&](std::vector<const Offer*> members) {
    return divided ? ChooseDivided(members, count / unit, divisions, ever)
                   : Choose(std::move(members), count / unit);
  };
  std::vector<Offer> offers;
  std::size_t levels = 0;
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    Offer offer = OfferOf(occupancy, n, wanted, fitness, ever);
    if (offer.units == 0) continue;
    levels = std::max(levels, occupancy.node(n).domains.size());
    offers.push_back(std::move(offer));
  }
  for (std::size_t level = levels + 1; level-- > 0;) {
    const std::optional<Choice> choice = ChooseAt(occupancy, offers, level, choose);
    if (!choice) continue;
    std::vector<GpuRef> gpus;
    for (std::size_t o = 0; o < choice->offers.size(); ++o) {
      const std::vector<GpuRef>& given = choice->offers[o]->gpus;
      gpus.insert(gpus.end(), given.begin(), given.begin() + choice->taken[o] * unit);
    }
    std::ranges::sort(gpus);
    return gpus;
  }
  return {};
}

}  // namespace

int UnitOf(std::span<const Gang* const> gangs) {
  int unit = 1;
  for (const Gang* gang : gangs) unit = std::lcm(unit, gang->gpus_per_pod);
  return unit;
}

std::vector<GpuRef> FindFree(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness) {
  return Find(occupancy, wanted, fitness, false);
}

std::vector<GpuRef> FindEver(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness) {
  return Find(occupancy, wanted, fitness, true);
}

}  // namespace crossover::placement
