#include "extender/placement/sets.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace crossover::placement {
namespace {

// An Offer says what one node could give, in units (UnitOf()).
struct Offer {
  int node;
  int units;
  int idle;                  // units, out of `units`, that have no gang on them
  std::vector<GpuRef> gpus;  // idle ones first
};

// A Cost orders choices; the smaller, the better. Its fields are: busy units, nodes, domains at each level
// below that of the choice, the widest first, units that remain on the chosen nodes, and units that remain in
// the narrowest of the chosen domains.
constexpr std::size_t kMostLevels = 5;  // domains of narrower levels do not count
constexpr std::size_t kBusy = 0, kNodes = 1, kDomains = 2, kLeft = kDomains + kMostLevels, kRoom = kLeft + 1;
using Cost = std::array<int, kRoom + 1>;

Cost operator+(const Cost& a, const Cost& b) {
  Cost sum;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

// A Choice is a selection of offers.
struct Choice {
  std::vector<const Offer*> offers;
  std::vector<int> taken{};  // units of each offer
  Cost cost{};
  void Add(const Offer& offer, int units) {
    offers.push_back(&offer);
    taken.push_back(units);
    cost[kBusy] += std::max(0, units - offer.idle);
    cost[kLeft] += offer.units - units;
    ++cost[kNodes];
  }
  void Add(const Choice& other) {
    offers.insert(offers.end(), other.offers.begin(), other.offers.end());
    taken.insert(taken.end(), other.taken.begin(), other.taken.end());
    cost = cost + other.cost;
  }
};

// An Asked is what gangs want, of GPUs of one model if `model` is not null. `ever` asks for a set that they
// could have if the cluster were empty.
struct Asked {
  const Wanted& wanted;
  const Fitness& fitness;
  bool ever = false;
  const std::string* model = nullptr;
};

bool Usable(const Occupancy& occupancy, GpuRef ref, const Asked& asked) {
  const Wanted& wanted = asked.wanted;
  const Gpu& gpu = occupancy.gpu(ref);
  if (gpu.slots < wanted.slots || (asked.model != nullptr && gpu.model != *asked.model)) return false;
  // A gang that is alone may have a GPU of unknown memory: the limit of its own memory is its own matter.
  const bool alone_on_unknown = gpu.memory == 0 && wanted.gangs.size() == 1;
  if (gpu.memory < wanted.memory && !alone_on_unknown) return false;
  if (wanted.many_users && occupancy.node(ref.node).one_user) return false;
  if (!wanted.among.empty() && !std::ranges::binary_search(wanted.among, ref)) return false;
  if (!asked.ever) return occupancy.Free(ref);
  return gpu.healthy && occupancy.node(ref.node).open;
}

Offer OfferOf(const Occupancy& occupancy, int node, const Asked& asked) {
  const Wanted& wanted = asked.wanted;
  std::vector<GpuRef> gpus;
  const int all = static_cast<int>(occupancy.node(node).gpus.size());
  for (int g = 0; g < all; ++g) {
    if (Usable(occupancy, {node, g}, asked)) gpus.push_back({node, g});
  }
  const int unit = UnitOf(wanted.gangs);
  int units = static_cast<int>(gpus.size()) / unit;
  for (const Gang* gang : wanted.gangs) {
    if (units == 0) break;  // the answer takes time
    const Fit fit = asked.fitness(*gang, node, occupancy.planned(node));
    const int pods = asked.ever ? fit.ever : std::min(fit.pods, fit.ever);
    units = std::min(units, pods * gang->gpus_per_pod / unit);
  }
  const auto busy =
      std::stable_partition(gpus.begin(), gpus.end(), [&](GpuRef ref) { return !occupancy.Busy(ref); });
  const int idle = static_cast<int>(busy - gpus.begin());
  return {.node = node, .units = units, .idle = std::min(units, idle / unit), .gpus = std::move(gpus)};
}

auto Size(const Offer& offer) { return std::pair(offer.idle, offer.units); }

// Sorts offers by size, the largest first.
void Sort(std::vector<const Offer*>* offers) {
  std::ranges::sort(*offers, [](const Offer* a, const Offer* b) {
    return Size(*a) != Size(*b) ? Size(*a) > Size(*b) : a->node < b->node;
  });
}

// Returns a choice of `units` units among sorted offers, without regard to domains: few busy GPUs, then the
// fewest nodes. It takes the largest offers, and as the last one the smallest that suffices. REQUIRES:
// together the offers have `units`.
Choice ChooseLargest(std::span<const Offer* const> offers, int units) {
  Choice choice;
  for (auto next = offers.begin(); units > 0; ++next) {
    auto chosen = next;
    const auto suffices = [&](const Offer* offer) { return offer->idle >= units; };
    if (suffices(*next)) {
      chosen = std::ranges::partition_point(next, offers.end(), suffices) - 1;
      while (chosen != next && Size(**(chosen - 1)) == Size(**chosen)) --chosen;
    }
    const int taken = std::min(units, (*chosen)->units);
    choice.Add(**chosen, taken);
    units -= taken;
  }
  return choice;
}

// A Domain chooses among the offers of one topology domain. Within a wider domain it holds, for each number
// of units up to the wanted one, the cost of the best choice among its offers. A domain with narrower domains
// in it gets these costs from theirs: the best choice of k units takes the best choice of j units from one of
// them, and the best one of k - j units from those before it.
class Domain {
 public:
  // `level` is that of this domain, and `depth` the number of levels down from that of the choice.
  Domain(const Occupancy& occupancy, std::vector<const Offer*> offers, std::size_t level, std::size_t depth,
         int wanted)
      : offers_(std::move(offers)), depth_(depth) {
    for (const Offer* offer : offers_) all_ += offer->units;
    units_ = std::min(all_, wanted);
    std::map<std::string, std::vector<const Offer*>> parts;
    bool divided = false;
    for (const Offer* offer : offers_) {
      const std::vector<std::string>& domains = occupancy.node(offer->node).domains;
      divided |= domains.size() > level;
      parts[domains.size() > level ? domains[level] : ""].push_back(offer);
    }
    if (!divided) {
      Fill();
      return;
    }
    best_.push_back({});
    for (auto& [name, members] : parts) {
      parts_.emplace_back(occupancy, std::move(members), level + 1, depth + 1, wanted);
      Merge();
    }
  }

  // Returns the number of units that it has, up to the wanted number.
  int units() const { return units_; }

  // Returns the best choice of this many units. REQUIRES: it has them.
  Choice Choose(int units) const {
    if (parts_.empty()) return ChooseUndivided(units);
    Choice choice;
    int left = units;
    for (std::size_t part = parts_.size(); part-- > 0;) {
      const int taken = taken_[part][static_cast<std::size_t>(left)];
      choice.Add(parts_[part].Choose(taken));
      left -= taken;
    }
    choice.cost = best_[static_cast<std::size_t>(units)];
    return choice;
  }

 private:
  // Returns the best choice of this many units in a domain without narrower ones. Such a domain counts as one
  // domain at each narrower level.
  Choice ChooseUndivided(int units) const {
    Choice choice = ChooseLargest(offers_, units);
    if (units == 0) return choice;
    choice.cost[kRoom] = all_ - units;
    for (std::size_t level = depth_; level < kMostLevels; ++level) ++choice.cost[kDomains + level];
    return choice;
  }

  void Fill() {
    Sort(&offers_);
    for (int k = 0; depth_ > 0 && k <= units_; ++k) best_.push_back(ChooseUndivided(k).cost);
  }

  // Takes the last part into the costs.
  void Merge() {
    const std::vector<Cost>& part = parts_.back().best_;
    const std::size_t all = std::min(best_.size() + part.size() - 2, static_cast<std::size_t>(units_));
    std::vector<Cost> best;
    std::vector<int>& taken = taken_.emplace_back();
    for (std::size_t k = 0; k <= all; ++k) {
      std::optional<Cost> least;
      int from_part = 0;
      for (std::size_t j = k < best_.size() ? 0 : k - best_.size() + 1; j <= k && j < part.size(); ++j) {
        Cost cost = best_[k - j] + part[j];
        if (j > 0 && depth_ < kMostLevels) ++cost[kDomains + depth_];
        if (least && *least <= cost) continue;
        least = cost;
        from_part = static_cast<int>(j);
      }
      best.push_back(*least);
      taken.push_back(from_part);
    }
    best_ = std::move(best);
  }

  std::vector<const Offer*> offers_;  // without narrower domains sorted by size
  std::size_t depth_;
  int all_ = 0;    // units of all offers
  int units_ = 0;  // at most the wanted ones
  std::vector<Domain> parts_;
  std::vector<std::vector<int>> taken_;  // by part and number of units of this part and those before: of it
  std::vector<Cost> best_;               // by number of units
};

// Chooses among the offers of one domain as the gangs' own constraints permit: no busy GPUs if possible, then
// few nodes. A unit is one pod. Returns nothing if they permit none.
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

using Chooser = std::function<std::optional<Choice>(std::vector<const Offer*> offers, std::size_t level)>;

std::optional<Choice> ChooseAt(const Occupancy& occupancy, const std::vector<Offer>& offers,
                               std::size_t level, const Chooser& choose) {
  std::map<std::vector<std::string>, std::vector<const Offer*>> by_domain;
  for (const Offer& offer : offers) {
    const Node& node = occupancy.node(offer.node);
    if (node.domains.size() >= level) by_domain[DomainOf(node, level)].push_back(&offer);
  }
  std::optional<Choice> best;
  for (auto& [domain, members] : by_domain) {
    const std::optional<Choice> choice = choose(std::move(members), level);
    if (choice && (!best || choice->cost < best->cost)) best = choice;
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

// Returns the level whose domains none of the gangs may leave, or nothing if no label has that level.
std::optional<std::size_t> LeastLevel(const State& state, const Wanted& wanted) {
  std::size_t least = 0;
  for (const Gang* gang : wanted.gangs) {
    const std::optional<std::size_t> level = LevelOf(state, *gang);
    if (!level) return std::nullopt;
    least = std::max(least, *level);
  }
  return least;
}

// Returns whether the node has the label of this level. A value that is empty says nothing.
bool HasLabelAt(const Node& node, std::size_t level) {
  return level == 0 || (node.domains.size() >= level && !node.domains[level - 1].empty());
}

// Returns whether the node has the labels whose domains the gangs may not leave.
bool HasLabels(const State& state, const Node& node, const Wanted& wanted) {
  return std::ranges::all_of(
      wanted.gangs, [&](const Gang* gang) { return HasLabelAt(node, LevelOf(state, *gang).value_or(0)); });
}

// A Found is a set of GPUs, ascending, the level of the domain that it lies in, and its cost.
struct Found {
  std::vector<GpuRef> gpus;
  std::size_t level = 0;
  Cost cost{};
};

std::optional<Found> FindSet(const Occupancy& occupancy, const Asked& asked) {
  const Wanted& wanted = asked.wanted;
  const bool ever = asked.ever;
  const int unit = UnitOf(wanted.gangs);
  const int count = wanted.gangs.front()->gpus();
  if (count % unit != 0) return std::nullopt;
  const std::vector<Division> divisions = DivisionsOf(wanted);
  const bool divided = !divisions.empty();
  // The constraints count pods, so a unit must be one pod of each gang.
  if (divided && count / unit != wanted.gangs.front()->pods) return std::nullopt;
  if (divided && count / unit != wanted.gangs.back()->pods) return std::nullopt;
  const std::optional<std::size_t> least = LeastLevel(occupancy.state(), wanted);
  if (!least) return std::nullopt;
  const Chooser choose = [&](std::vector<const Offer*> members, std::size_t level) -> std::optional<Choice> {
    if (divided) return ChooseDivided(members, count / unit, divisions, ever);
    const Domain domain(occupancy, std::move(members), level, 0, count / unit);
    if (domain.units() < count / unit) return std::nullopt;
    return domain.Choose(count / unit);
  };
  std::vector<Offer> offers;
  std::size_t levels = 0;
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    Offer offer = OfferOf(occupancy, n, asked);
    if (offer.units == 0 || !HasLabels(occupancy.state(), occupancy.node(n), wanted)) continue;
    levels = std::max(levels, occupancy.node(n).domains.size());
    offers.push_back(std::move(offer));
  }
  for (std::size_t level = levels + 1; level-- > *least;) {
    const std::optional<Choice> choice = ChooseAt(occupancy, offers, level, choose);
    if (!choice) continue;
    Found found{.gpus = {}, .level = level, .cost = choice->cost};
    for (std::size_t o = 0; o < choice->offers.size(); ++o) {
      const std::vector<GpuRef>& given = choice->offers[o]->gpus;
      found.gpus.insert(found.gpus.end(), given.begin(), given.begin() + choice->taken[o] * unit);
    }
    std::ranges::sort(found.gpus);
    return found;
  }
  return std::nullopt;
}

// Returns the models of the GPUs that could be in the set.
std::set<std::string> ModelsOf(const Occupancy& occupancy, const Asked& asked) {
  std::set<std::string> models;
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    const std::vector<Gpu>& gpus = occupancy.node(n).gpus;
    for (int g = 0; g < static_cast<int>(gpus.size()); ++g) {
      const std::string& model = gpus[static_cast<std::size_t>(g)].model;
      if (!models.contains(model) && Usable(occupancy, {n, g}, asked)) models.insert(model);
    }
  }
  return models;
}

// Returns the best set of GPUs, or none if there are too few. All ranks of a gang go at the pace of its
// slowest GPU. So a set of one model counts for more than a narrow domain and few nodes, unless it has more
// busy GPUs.
std::vector<GpuRef> Find(const Occupancy& occupancy, const Asked& asked) {
  const std::optional<Found> any = FindSet(occupancy, asked);
  if (!any) return {};
  const std::set<std::string> models = ModelsOf(occupancy, asked);
  if (models.size() < 2) return any->gpus;
  std::optional<Found> best;
  for (const std::string& model : models) {
    std::optional<Found> found = FindSet(
        occupancy, {.wanted = asked.wanted, .fitness = asked.fitness, .ever = asked.ever, .model = &model});
    if (!found || found->cost[kBusy] > any->cost[kBusy]) continue;
    const bool better =
        !best || found->level > best->level || (found->level == best->level && found->cost < best->cost);
    if (better) best = std::move(found);
  }
  return best ? best->gpus : any->gpus;
}

}  // namespace

std::optional<std::size_t> LevelOf(const State& state, const Gang& gang) {
  if (gang.within.empty()) return 0;
  const auto found = std::ranges::find(state.levels, gang.within);
  if (found == state.levels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - state.levels.begin()) + 1;
}

bool IsWithin(const State& state, const Gang& gang, std::span<const OnNode> on) {
  const std::optional<std::size_t> level = LevelOf(state, gang);
  if (!level) return false;
  const Node& first = state.nodes[static_cast<std::size_t>(on.front().node)];
  return std::ranges::all_of(on, [&](const OnNode& one) {
    const Node& node = state.nodes[static_cast<std::size_t>(one.node)];
    return HasLabelAt(node, *level) && DomainOf(node, *level) == DomainOf(first, *level);
  });
}

int UnitOf(std::span<const Gang* const> gangs) {
  int unit = 1;
  for (const Gang* gang : gangs) unit = std::lcm(unit, gang->gpus_per_pod);
  return unit;
}

std::vector<GpuRef> FindFree(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness) {
  return Find(occupancy, {.wanted = wanted, .fitness = fitness});
}

std::vector<GpuRef> FindEver(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness) {
  return Find(occupancy, {.wanted = wanted, .fitness = fitness, .ever = true});
}

}  // namespace crossover::placement
