// Declares the graph of work that stream capture makes, and its executable form.
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

// A Graph keeps its nodes in an order in which each node follows those on which it depends.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* Add(CUgraphNodeType type, WorkPtr work, std::vector<GraphNode*> dependencies) {
    nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(work), std::move(dependencies)}));
    return nodes.back().get();
  }
};

// A GraphExec replays a graph's work on one stream, in the order of capture. That is a valid order of the
// graph, but it has none of its concurrency.
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
