// Runs graphs that stream capture made.
#pragma once

#include <memory>
#include <vector>

#include "simgpu/cuda/context.h"
#include "simgpu/graphs/plan.h"

namespace simgpu {

// A GraphExec is a graph that can be launched. A graph of one branch is one piece of work of the stream that
// it is launched in. Otherwise each branch has a lane of its own, and that stream waits for all of them.
// Thread-safe.
class GraphExec final : public Work {
 public:
  explicit GraphExec(const Graph& graph);
  ~GraphExec() override;
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;

  // Returns true if the graph must be launched branch by branch: Run() does not do it.
  bool branched() const { return !lanes_.empty(); }
  // Runs the nodes of the only branch.
  void Run(Lane& lane) const override;
  // Queues all branches. Returns an error, and queues nothing, if the stream refuses them. They run behind
  // what the stream has now and behind the last launch of this graph.
  CUresult LaunchBranches(const StreamPtr& stream);

 private:
  struct Node {
    WorkPtr work;  // null if the node records or awaits the event
    std::shared_ptr<Event> event;
    bool records = false;
  };
  void QueueNodes(const RecordPtr& start);
  void QueueEvent(Lane& lane, const Node& node);

  const std::vector<std::shared_ptr<UserReference>> references_;  // those of the graph
  std::vector<Node> nodes_;
  GraphPlan plan_;
  std::vector<std::shared_ptr<Lane>> lanes_;  // by branch; empty unless branched
  RecordPtr last_;                            // end of the last launch; null before the first
};

// Queues a launch of the graph. Returns what cuGraphLaunch() returns.
CUresult LaunchGraph(const StreamPtr& stream, const std::shared_ptr<GraphExec>& exec);

}  // namespace simgpu
