// Decides in which order and beside which others the nodes of a graph run. Pure.
//
// Nodes that one stream captured run one after the other, as a branch. Branches run at the same time. A node
// waits for nodes of other branches only if the graph says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu {

// A PlanNode is what the plan has to know of a node. Nodes come in an order in which each follows those on
// which it depends, and are known by their place in that order.
struct PlanNode {
  std::uint64_t stream = 0;  // that captured it
  int gpu = 0;
  std::vector<std::size_t> dependencies;
};

// A Step is one node as it is launched.
struct Step {
  std::size_t branch = 0;
  std::vector<std::size_t> waits;  // nodes of other branches that must be over first
  bool awaited = false;            // a node of another branch waits for this one

  bool operator==(const Step&) const = default;
};

// A GraphPlan has one step for each node, in the same order.
struct GraphPlan {
  std::vector<Step> steps;
  std::vector<int> gpus;  // place of the GPU of each branch
};

GraphPlan PlanGraph(const std::vector<PlanNode>& nodes);

}  // namespace simgpu
