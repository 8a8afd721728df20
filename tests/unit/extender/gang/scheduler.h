// Judges one pod on one node as Kubernetes' scheduler does, by the rules of its plugins NodePorts,
// InterPodAffinity and PodTopologySpread as they are documented. It shares no code with the extender, except
// for the meaning of label selectors and node selections. For tests of small clusters.
#pragma once

#include <string>
#include <vector>

#include "extender/cluster/model.h"

namespace crossover::extender {

// A Scheduler knows nodes, and the pods that are on them.
class Scheduler {
 public:
  explicit Scheduler(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  void Add(const Pod& pod, const std::string& node) { there_.push_back({pod, node}); }
  void Remove() { there_.pop_back(); }  // the one that was added last
  const std::vector<Node>& nodes() const { return nodes_; }

  // Returns whether the pod may be bound to the node now.
  bool Takes(const Pod& pod, const std::string& node) const;

 private:
  struct There {
    Pod pod;
    std::string node;
  };
  const Node& NodeOf(const std::string& name) const;
  bool PortsAreFree(const Pod& pod, const std::string& node) const;
  bool AntiAffinityHolds(const Pod& pod, const Node& node) const;
  bool AffinityHolds(const Pod& pod, const Node& node) const;
  bool SpreadHolds(const Pod& pod, const kube::Spread& spread, const Node& node) const;

  std::vector<Node> nodes_;
  std::vector<There> there_;
};

}  // namespace crossover::extender
