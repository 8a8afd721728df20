// Which nodes a pod may be on, by their labels and names: its nodeSelector and its required node affinity.
// Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace crossover::kube {

using Labels = std::map<std::string, std::string>;

// One expression of a node selector.
struct Requirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt; any other holds for no node
  std::vector<std::string> values;
  bool of_field = false;  // metadata.name, not a label

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct NodeSelection {
  Labels selector;  // what a node's labels must be
  // Required node affinity: one of the terms must hold, all requirements of it; one without any holds
  // nowhere. None: anywhere.
  std::vector<std::vector<Requirement>> affinity;

  friend bool operator==(const NodeSelection&, const NodeSelection&) = default;
};

// Of a pod's spec, which may be anything; what is malformed counts as not set.
NodeSelection NodeSelectionOf(const nlohmann::json& spec);

// As Kubernetes defines the operators. `node`: its name.
bool Holds(const Requirement& requirement, const std::string& node, const Labels& labels);
// What keeps the pod away, in words for its user; empty: nothing does.
std::string WhyNotSelected(const NodeSelection& selection, const std::string& node, const Labels& labels);

}  // namespace crossover::kube
