// GPUs given out by counting: the first node with room, whole nodes for what is larger than one. As Muri's
// simulator does.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/placement/policy.h"

namespace crossover::benchmarks {

class Nodes {
 public:
  explicit Nodes(const Cluster& cluster)
      : each_(cluster.gpus_per_node), free_(static_cast<std::size_t>(cluster.nodes), cluster.gpus_per_node) {}

  // Whether there was room; then it is taken.
  bool Take(int gpus) {
    std::vector<int> after = free_;
    for (; gpus >= each_; gpus -= each_) {
      const auto whole = std::ranges::find(after, each_);
      if (whole == after.end()) return false;
      *whole = 0;
    }
    if (gpus > 0) {
      const auto node = std::ranges::find_if(after, [&](int free) { return free >= gpus; });
      if (node == after.end()) return false;
      *node -= gpus;
    }
    free_ = std::move(after);
    return true;
  }

 private:
  int each_;
  std::vector<int> free_;
};

}  // namespace crossover::benchmarks
