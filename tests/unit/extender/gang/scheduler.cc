#include "tests/unit/extender/gang/scheduler.h"

#include <algorithm>
#include <map>

namespace crossover::extender {
namespace {

bool Has(const Node& node, const std::string& key) { return node.labels.contains(key); }

bool SameDomain(const Node& a, const Node& b, const std::string& key) {
  return Has(a, key) && Has(b, key) && a.labels.at(key) == b.labels.at(key);
}

bool IsMeant(const kube::PodTerm& term, const Pod& owner, const Pod& pod) {
  bool in = term.others == kube::PodTerm::Namespaces::kAll;
  if (term.namespaces.empty() && !in) in = pod.name_space == owner.name_space;
  for (const std::string& name : term.namespaces) in |= pod.name_space == name;
  return in && kube::Matches(term.selector, pod.labels);
}

}  // namespace

const Node& Scheduler::NodeOf(const std::string& name) const {
  return *std::ranges::find(nodes_, name, &Node::name);
}

bool Scheduler::Takes(const Pod& pod, const std::string& name) const {
  const Node& node = NodeOf(name);
  if (!kube::WhyNotSelected(pod.selection, name, node.labels).empty()) return false;
  if (!PortsAreFree(pod, name) || !AntiAffinityHolds(pod, node) || !AffinityHolds(pod, node)) return false;
  return std::ranges::all_of(pod.constraints.spread,
                             [&](const kube::Spread& spread) { return SpreadHolds(pod, spread, node); });
}

bool Scheduler::PortsAreFree(const Pod& pod, const std::string& node) const {
  for (const There& other : there_) {
    if (other.node != node) continue;
    for (const kube::HostPort& mine : pod.constraints.ports) {
      for (const kube::HostPort& its : other.pod.constraints.ports) {
        const bool any = mine.ip == "0.0.0.0" || its.ip == "0.0.0.0";
        if (mine.port == its.port && mine.protocol == its.protocol && (any || mine.ip == its.ip))
          return false;
      }
    }
  }
  return true;
}

bool Scheduler::AntiAffinityHolds(const Pod& pod, const Node& node) const {
  for (const There& other : there_) {
    const Node& its = NodeOf(other.node);
    for (const kube::PodTerm& term : pod.constraints.apart) {
      if (SameDomain(node, its, term.topology) && IsMeant(term, pod, other.pod)) return false;
    }
    for (const kube::PodTerm& term : other.pod.constraints.apart) {
      if (SameDomain(node, its, term.topology) && IsMeant(term, other.pod, pod)) return false;
    }
  }
  return true;
}

bool Scheduler::AffinityHolds(const Pod& pod, const Node& node) const {
  const std::vector<kube::PodTerm>& terms = pod.constraints.near;
  const auto meets_all = [&](const Pod& other) {
    return std::ranges::all_of(terms, [&](const kube::PodTerm& term) { return IsMeant(term, pod, other); });
  };
  bool any = false, met = true;
  for (const kube::PodTerm& term : terms) {
    if (!Has(node, term.topology)) return false;
    bool here = false;
    for (const There& other : there_) {
      if (!meets_all(other.pod)) continue;
      any |= Has(NodeOf(other.node), term.topology);
      here |= SameDomain(node, NodeOf(other.node), term.topology);
    }
    met &= here;
  }
  return met || (!any && meets_all(pod));  // the first of a group of pods that have affinity to each other
}

bool Scheduler::SpreadHolds(const Pod& pod, const kube::Spread& spread, const Node& node) const {
  if (!Has(node, spread.topology)) return false;
  std::map<std::string, int> counts;
  for (const Node& other : nodes_) {
    bool counted = true;
    for (const kube::Spread& one : pod.constraints.spread) counted &= Has(other, one.topology);
    if (spread.heeds_selection)
      counted &= kube::WhyNotSelected(pod.selection, other.name, other.labels).empty();
    if (!counted) continue;
    int& count = counts[other.labels.at(spread.topology)];
    for (const There& one : there_) {
      const bool meant = one.node == other.name && !one.pod.deleting && one.pod.name_space == pod.name_space;
      count += meant && kube::Matches(spread.selector, one.pod.labels) ? 1 : 0;
    }
  }
  int fewest = 1 << 20;
  for (const auto& [domain, count] : counts) fewest = std::min(fewest, count);
  if (static_cast<int>(counts.size()) < spread.min_domains) fewest = 0;
  const int own = kube::Matches(spread.selector, pod.labels) ? 1 : 0;
  return counts[node.labels.at(spread.topology)] + own - fewest <= spread.max_skew;
}

}  // namespace crossover::extender
