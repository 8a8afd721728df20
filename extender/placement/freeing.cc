#include "extender/placement/freeing.h"

#include <algorithm>
#include <numeric>

#include "extender/placement/cover.h"
#include "extender/placement/memory.h"

namespace crossover::placement {

// A Class holds options of which one at most is chosen, and the candidates that leave by each.
struct Counting::Class {
  std::vector<Option> options;
  std::vector<Who> who;
};

Counting::Counting(const Occupancy& occupancy, const Gang& gang, std::span<const Candidate> candidates,
                   const Context& context)
    : occupancy_(occupancy), gang_(gang), candidates_(candidates) {
  const Bytes cap = CapOf(gang, context.settings);
  if (cap > 0) memory_ = cap + context.settings.context_reserve;
  for (std::size_t c = 0; c < candidates.size(); ++c) index_[candidates[c].gang] = c;
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    int free = 0;
    for (int g = 0; g < static_cast<int>(occupancy.node(n).gpus.size()); ++g) {
      free += occupancy.Free({n, g}) && Suits({n, g});
    }
    free_.push_back(free);
    most_.push_back(context.fitness(gang, n, occupancy.planned(n)).ever);
  }
  for (const Group& group : occupancy.groups()) AddBundle(group);
}

// Returns whether the gang could have the GPU if no gang were on it.
bool Counting::Suits(GpuRef ref) const {
  const Gpu& gpu = occupancy_.gpu(ref);
  const bool there = gpu.healthy && gpu.slots > 0 && occupancy_.node(ref.node).open;
  return there && gpu.memory >= memory_ && !occupancy_.IsReserved(ref);
}

// Returns for how many pods the node has GPUs once this many `more` are free.
int Counting::PodsOn(int node, int more) const {
  const auto n = static_cast<std::size_t>(node);
  return std::min(most_[n], (free_[n] + more) / gang_.gpus_per_pod);
}

void Counting::AddBundle(const Group& group) {
  Bundle bundle;
  for (const Gang* gang : group.gangs) {
    const auto found = index_.find(gang);
    if (found == index_.end()) return;
    bundle.who.push_back(found->second);
    bundle.cost += candidates_[found->second].cost;
  }
  for (const GpuRef ref : group.gpus) {
    if (!Suits(ref)) continue;
    if (bundle.gives.empty() || bundle.gives.back().node != ref.node) bundle.gives.push_back({ref.node, 0});
    ++bundle.gives.back().gpus;
  }
  if (!bundle.gives.empty()) bundles_.push_back(std::move(bundle));
}

int Counting::PodsAtMost(const Who& who) const {
  std::vector<bool> leaves(candidates_.size());
  for (const std::size_t c : who) leaves[c] = true;
  std::vector<int> more(free_.size());
  for (const Bundle& bundle : bundles_) {
    if (!std::ranges::all_of(bundle.who, [&](std::size_t c) { return leaves[c]; })) continue;
    for (const auto& [node, gpus] : bundle.gives) more[static_cast<std::size_t>(node)] += gpus;
  }
  int pods = 0;
  for (std::size_t n = 0; n < more.size(); ++n) {
    pods = std::min(gang_.pods, pods + PodsOn(static_cast<int>(n), more[n]));
  }
  return pods;
}

std::optional<Who> Counting::Cheapest() const {
  int lacks = gang_.pods;
  for (int n = 0; n < static_cast<int>(free_.size()); ++n) lacks -= std::min(lacks, PodsOn(n, 0));
  if (lacks == 0) return std::nullopt;
  const std::vector<Class> classes = Classes();
  std::vector<std::vector<Option>> options;
  for (const Class& one : classes) options.push_back(one.options);
  const auto chosen = CheapestCover(options, lacks);
  if (!chosen) return std::nullopt;
  Who who;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if ((*chosen)[c] < 0) continue;
    const Who& more = classes[c].who[static_cast<std::size_t>((*chosen)[c])];
    who.insert(who.end(), more.begin(), more.end());
  }
  std::ranges::sort(who);
  return who;
}

// Returns a class for each bundle on several nodes, and for each node one for its other bundles.
std::vector<Counting::Class> Counting::Classes() const {
  std::vector<Class> classes;
  std::map<int, std::vector<const Bundle*>> on_node;
  for (const Bundle& bundle : bundles_) {
    if (bundle.gives.size() == 1) {
      on_node[bundle.gives.front().node].push_back(&bundle);
      continue;
    }
    int gain = 0;
    for (const auto& [node, gpus] : bundle.gives) gain += GainOn(node, gpus);
    const Option option{gain, static_cast<int>(bundle.who.size()), bundle.cost};
    if (gain > 0) classes.push_back({{option}, {bundle.who}});
  }
  for (auto& [node, bundles] : on_node) classes.push_back(ClassOf(node, std::move(bundles)));
  return classes;
}

// Returns the best choice of the node's bundles for each gain. Of many bundles only some choices are looked
// at: the first of them in their order.
Counting::Class Counting::ClassOf(int node, std::vector<const Bundle*> bundles) const {
  constexpr std::size_t kMostCombined = 8;
  std::ranges::sort(bundles, [](const Bundle* a, const Bundle* b) { return a->GoesBefore(*b); });
  std::map<int, std::pair<Option, Who>> best;  // by gain
  const auto consider = [&](auto is_in) {
    int gpus = 0;
    Option option{};
    Who who;
    for (std::size_t b = 0; b < bundles.size(); ++b) {
      if (!is_in(b)) continue;
      gpus += bundles[b]->gives.front().gpus;
      option.cost += bundles[b]->cost;
      who.insert(who.end(), bundles[b]->who.begin(), bundles[b]->who.end());
    }
    option.gain = GainOn(node, gpus);
    option.gangs = static_cast<int>(who.size());
    if (option.gain <= 0) return;
    const auto [entry, added] = best.try_emplace(option.gain, option, who);
    const Option& other = entry->second.first;
    if (!added && std::pair(option.gangs, option.cost) < std::pair(other.gangs, other.cost)) {
      entry->second = {option, std::move(who)};
    }
  };
  if (bundles.size() <= kMostCombined) {
    for (std::size_t mask = 1; mask < std::size_t{1} << bundles.size(); ++mask) {
      consider([mask](std::size_t b) { return (mask >> b & 1) != 0; });
    }
  } else {
    for (std::size_t count = 1; count <= bundles.size(); ++count) {
      consider([count](std::size_t b) { return b < count; });
    }
  }
  Class result;
  for (auto& [gain, choice] : best) {
    result.options.push_back(choice.first);
    result.who.push_back(std::move(choice.second));
  }
  return result;
}

}  // namespace crossover::placement
