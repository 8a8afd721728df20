#include "extender/cluster/relations.h"

#include <algorithm>

namespace crossover::extender {

bool LooksAt(const kube::PodTerm& term, const std::string& own, const std::string& other) {
  using Namespaces = kube::PodTerm::Namespaces;
  if (term.others == Namespaces::kAll) return true;
  if (term.namespaces.empty() && term.others == Namespaces::kListed) return other == own;
  return std::ranges::find(term.namespaces, other) != term.namespaces.end();
}

bool Selects(const kube::PodTerm& term, const std::string& name_space, const Pod& other) {
  return LooksAt(term, name_space, other.name_space) && kube::Matches(term.selector, other.labels);
}

const kube::HostPort* ClashOf(const Pod& pod, const Pod& other) {
  for (const kube::HostPort& port : pod.constraints.ports) {
    const auto clashes = [&port](const kube::HostPort& its) { return kube::Clash(port, its); };
    if (std::ranges::any_of(other.constraints.ports, clashes)) return &port;
  }
  return nullptr;
}

const std::string* LabelOf(const Node* node, const std::string& key) {
  if (node == nullptr) return nullptr;
  const auto label = node->labels.find(key);
  return label == node->labels.end() ? nullptr : &label->second;
}

const kube::PodTerm* ApartOn(const Node* node, const Pod& pod, const Pod& other) {
  const auto find = [node](const Pod& of, const Pod& selected) -> const kube::PodTerm* {
    for (const kube::PodTerm& term : of.constraints.apart) {
      if (LabelOf(node, term.topology) != nullptr && Selects(term, of.name_space, selected)) return &term;
    }
    return nullptr;
  };
  const kube::PodTerm* term = find(pod, other);
  return term != nullptr ? term : find(other, pod);
}

}  // namespace crossover::extender
