// A graph of work, as stream capture makes it, and its executable form.
#pragma once

#include <memory>
#include <vector>

#include "simgpu/cuda/work.h"

namespace simgpu {

struct GraphNode {
  CUgraphNodeType type;
  WorkPtr work;
  std::vector<GraphNode*> dependencies;
};

// Nodes stand in an order in which each follows those it depends on.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* Add(CUgraphNodeType type, WorkPtr work, std::vector<GraphNode*> dependencies) {
    nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(work), std::move(dependencies)}));
    return nodes.back().get();
  }
};

// Replays a graph's work on one stream, in the order in which it was captured: a valid order of the graph,
// without its concurrency.
class GraphExec final : public Work {
 public:
  explicit GraphExec(const Graph& graph) {
    for (const auto& node : graph.nodes) {
      if (node->work != nullptr) works_.push_back(node->work);
    }
  }
  void Run(Lane& lane) const override {
    for (const WorkPtr& work : works_) work->Run(lane);
  }

 private:
  std::vector<WorkPtr> works_;
};

}  // namespace simgpu
