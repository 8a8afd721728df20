// Says whether constraints of one pod concern another one, as a scheduler judges it. Pure.
#pragma once

#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// Returns whether a term of a pod in the namespace `own` looks at pods of `other`. Namespaces that the term
// names by their labels count as not named, because their labels are not known here.
bool LooksAt(const kube::PodTerm& term, const std::string& own, const std::string& other);
// Returns whether a term of a pod in `name_space` selects `other`.
bool Selects(const kube::PodTerm& term, const std::string& name_space, const Pod& other);

// Returns a port of the host that `pod` asks for and that `other` has on the same node, or null if there is
// none.
const kube::HostPort* ClashOf(const Pod& pod, const Pod& other);

// Returns the value of a node's label, or null if the node is null or lacks it.
const std::string* LabelOf(const Node* node, const std::string& key);

// Returns the term of `pod` or `other` that keeps them apart if both are on `node`, or null if none does.
const kube::PodTerm* ApartOn(const Node* node, const Pod& pod, const Pod& other);

}  // namespace crossover::extender
