// Decides which objects a label selector means, by their labels. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/kube/node_selection.h"

namespace crossover::kube {

// A LabelSelector holds the matchLabels and matchExpressions of an object.
struct LabelSelector {
  bool nothing = true;  // the selector matches no object, because it is missing or malformed
  Labels labels;        // labels that the object must have
  std::vector<Requirement> expressions;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// Returns the selector that an object has. A null selector matches no object, and an empty one matches every
// object, as in PodDisruptionBudget of policy/v1. A malformed one, or one with an operator that Kubernetes
// does not define, matches no object.
LabelSelector LabelSelectorOf(const nlohmann::json& selector);

// Returns whether the selector matches an object with these labels.
bool Matches(const LabelSelector& selector, const Labels& labels);

}  // namespace crossover::kube
