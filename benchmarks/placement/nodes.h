// Gives out GPUs by counting: the first node with room, and whole nodes for jobs larger than one node.
// Muri's simulator does the same.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/placement/policy.h"

namespace crossover::benchmarks {

class Nodes {
 public:
  Nodes(const Cluster& cluster, const std::vector<bool>& up)
      : each_(cluster.gpus_per_node), free_(static_cast<std::size_t>(cluster.nodes)) {
    for (std::size_t n = 0; n < free_.size(); ++n) free_[n] = up[n] ? each_ : 0;
  }

  // Takes GPUs and returns their nodes. Returns an empty list, and takes none, where there is no room.
  std::vector<int> Take(int gpus) {
    std::vector<int> after = free_, taken;
    const auto take = [&](auto node, int count) {
      if (node == after.end()) return false;
      *node -= count;
      taken.push_back(static_cast<int>(node - after.begin()));
      return true;
    };
    for (; gpus >= each_; gpus -= each_) {
      if (!take(std::ranges::find(after, each_), each_)) return {};
    }
    if (gpus > 0 && !take(std::ranges::find_if(after, [&](int free) { return free >= gpus; }), gpus))
      return {};
    free_ = std::move(after);
    return taken;
  }

 private:
  int each_;
  std::vector<int> free_;
};

}  // namespace crossover::benchmarks
