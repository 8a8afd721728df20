// Decides on which nodes a pod may run, by the nodes' labels and names: the pod's nodeSelector and its
// required node affinity. Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace crossover::kube {

using Labels = std::map<std::string, std::string>;

// A Requirement is one expression of a node selector.
struct Requirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt; any other matches no node
  std::vector<std::string> values;
  bool of_field = false;  // about metadata.name, not about a label

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// A NodeSelection holds the nodeSelector and the required node affinity of a pod.
struct NodeSelection {
  Labels selector;  // labels that a node must have
  // `affinity` is the required node affinity. A node matches if all requirements of at least one term hold.
  // A term without requirements matches no node. An empty list matches every node.
  std::vector<std::vector<Requirement>> affinity;

  friend bool operator==(const NodeSelection&, const NodeSelection&) = default;
};

// Returns what the spec of a pod, of any form, selects. A malformed part counts as not set.
NodeSelection NodeSelectionOf(const nlohmann::json& spec);

// Returns whether a node matches, as Kubernetes defines the operators. `node` is its name.
bool Holds(const Requirement& requirement, const std::string& node, const Labels& labels);
// Returns why the pod may not run on the node, in words for the pod's user, or "" if it may.
std::string WhyNotSelected(const NodeSelection& selection, const std::string& node, const Labels& labels);

}  // namespace crossover::kube
