// Declares the graph of work that stream capture makes. simgpu/graphs runs it.
#pragma once

#include <memory>
#include <vector>

#include "simgpu/cuda/work.h"

namespace simgpu {

struct Event;
class UserReference;

// A GraphNode has work, or it records `event` or waits for it when the graph is launched.
struct GraphNode {
  CUgraphNodeType type;
  WorkPtr work;
  std::vector<GraphNode*> dependencies;
  std::uint64_t branch = 0;  // ID of the stream in which it was captured
  int gpu = 0;               // place of that stream's GPU on the node
  std::shared_ptr<Event> event = nullptr;
};

// A Graph keeps its nodes in an order in which each node follows those on which it depends.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<std::shared_ptr<UserReference>> references;  // objects of the program that live as long as it

  GraphNode* Add(CUgraphNodeType type, WorkPtr work, std::vector<GraphNode*> dependencies) {
    nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(work), std::move(dependencies)}));
    return nodes.back().get();
  }
};

}  // namespace simgpu
