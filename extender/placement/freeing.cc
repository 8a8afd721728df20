#include "extender/placement/freeing.h"

#include <algorithm>
#include <numeric>

#include "extender/placement/cover.h"
#include "extender/placement/memory.h"

namespace crossover::placement {
namespace {

using Who = std::vector<std::size_t>;  // indices of candidates

// A Bundle is all gangs of a group: only once all of them have left are its GPUs free.
struct Bundle {
  Who who;
  double cost = 0;
  std::vector<OnNode> gives;  // usable GPUs by node
};

bool GoesBefore(const Bundle& a, const Bundle& b) {
  return std::pair(a.who.size(), a.cost) < std::pair(b.who.size(), b.cost);
}

// A Class holds options of which one at most is chosen, and the candidates that leave by each.
struct Class {
  std::vector<Option> options;
  std::vector<Who> who;
};

class Counting {
 public:
  Counting(const Occupancy& occupancy, const Gang& gang, std::span<const Candidate> candidates,
           const Terms& terms)
      : occupancy_(occupancy), gang_(gang), candidates_(candidates) {
    const Bytes cap = CapOf(gang, terms.settings);
    if (cap > 0) memory_ = cap + terms.settings.context_reserve;
    for (std::size_t c = 0; c < candidates.size(); ++c) index_[candidates[c].gang] = c;
    for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) AddNode(n, terms.fitness);
  }

  std::optional<Who> Run() const {
    int lacks = gang_.pods;
    for (int n = 0; n < static_cast<int>(free_.size()); ++n) lacks -= PodsOn(n, 0);
    if (lacks <= 0) return std::nullopt;
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

 private:
  void AddNode(int node, const Fitness& fitness) {
    int free = 0;
    for (int g = 0; g < static_cast<int>(occupancy_.node(node).gpus.size()); ++g) {
      free += occupancy_.Free({node, g}) && Suits({node, g});
    }
    free_.push_back(free);
    most_.push_back(fitness(gang_, node, occupancy_.planned(node)).ever);
  }

  // Returns whether the gang could have the GPU if no gang were on it.
  bool Suits(GpuRef ref) const {
    const Gpu& gpu = occupancy_.gpu(ref);
    const bool there = gpu.healthy && gpu.slots > 0 && occupancy_.node(ref.node).open;
    return there && gpu.memory >= memory_ && !occupancy_.Kept(ref);
  }

  // Returns for how many pods the node has GPUs once so many `more` are free.
  int PodsOn(int node, int more) const {
    const auto n = static_cast<std::size_t>(node);
    return std::min(most_[n], (free_[n] + more) / gang_.gpus_per_pod);
  }
  int GainOn(int node, int more) const { return PodsOn(node, more) - PodsOn(node, 0); }

  // Returns the bundle of a group, or nothing where some of its gangs stay or it gives nothing.
  std::optional<Bundle> BundleOf(const Group& group) const {
    if (group.shut) return std::nullopt;
    Bundle bundle;
    for (const Gang* gang : group.gangs) {
      const auto found = index_.find(gang);
      if (found == index_.end()) return std::nullopt;
      bundle.who.push_back(found->second);
      bundle.cost += candidates_[found->second].cost;
    }
    for (const GpuRef ref : group.gpus) {
      if (!Suits(ref)) continue;
      if (bundle.gives.empty() || bundle.gives.back().node != ref.node) bundle.gives.push_back({ref.node, 0});
      ++bundle.gives.back().gpus;
    }
    if (bundle.gives.empty()) return std::nullopt;
    return bundle;
  }

  // Returns a class for each bundle on several nodes, and one for all other bundles of a node.
  std::vector<Class> Classes() const {
    std::vector<Class> classes;
    std::map<int, std::vector<Bundle>> on_node;
    for (const Group& group : occupancy_.groups()) {
      std::optional<Bundle> bundle = BundleOf(group);
      if (!bundle) continue;
      if (bundle->gives.size() == 1) {
        on_node[bundle->gives.front().node].push_back(std::move(*bundle));
        continue;
      }
      int gain = 0;
      for (const auto& [node, gpus] : bundle->gives) gain += GainOn(node, gpus);
      const Option option{gain, static_cast<int>(bundle->who.size()), bundle->cost};
      if (gain > 0) classes.push_back({{option}, {bundle->who}});
    }
    for (auto& [node, bundles] : on_node) classes.push_back(ClassOf(node, std::move(bundles)));
    return classes;
  }

  // Returns the best choice of the node's bundles for each gain.
  Class ClassOf(int node, std::vector<Bundle> bundles) const {
    std::ranges::sort(bundles, GoesBefore);
    std::map<int, std::pair<Option, Who>> best;  // by gain
    const auto consider = [&](auto is_in) {
      int gpus = 0;
      Option option;
      Who who;
      for (std::size_t b = 0; b < bundles.size(); ++b) {
        if (!is_in(b)) continue;
        gpus += bundles[b].gives.front().gpus;
        option.cost += bundles[b].cost;
        who.insert(who.end(), bundles[b].who.begin(), bundles[b].who.end());
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
    constexpr std::size_t kMostCombined = 8;
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

  const Occupancy& occupancy_;
  const Gang& gang_;
  std::span<const Candidate> candidates_;
  Bytes memory_ = 0;  // that each GPU must have
  std::map<const Gang*, std::size_t> index_;
  std::vector<int> free_;  // suitable free GPUs, by node
  std::vector<int> most_;  // pods that the node would take if it were empty, by node
};

}  // namespace

std::optional<std::vector<std::size_t>> CheapestToFree(const Occupancy& occupancy, const Gang& gang,
                                                       std::span<const Candidate> candidates,
                                                       const Terms& terms) {
  return Counting(occupancy, gang, candidates, terms).Run();
}

}  // namespace crossover::placement
