// Reads what a pod demands of the pods around it: ports of the host, required affinity and anti-affinity
// between pods, and the topology spread that a scheduler enforces. Wishes are left out. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/kube/label_selector.h"

namespace crossover::kube {

struct HostPort {
  std::string protocol;  // TCP, UDP or SCTP
  std::string ip;        // of the host; 0.0.0.0: all of them
  int port = 0;          // 1 to 65535

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Returns whether two pods with these ports cannot be on one node.
bool Clash(const HostPort& a, const HostPort& b);

// A PodTerm is one required term of affinity or anti-affinity. It selects pods, by labels and namespace. The
// nodes with the same value of the label `topology` form one domain.
struct PodTerm {
  // Says which namespaces it looks at, beside those of the list `namespaces`.
  enum class Namespaces : std::uint8_t {
    kListed,  // none; if the list is empty, that of the pod
    kAll,     // all
    kByLabel  // namespaces with certain labels, which this type does not hold
  };
  std::string topology;
  LabelSelector selector;
  std::vector<std::string> namespaces;
  Namespaces others = Namespaces::kListed;

  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

// A Spread is a topology spread constraint with whenUnsatisfiable: DoNotSchedule. It counts the pods of the
// pod's own namespace that `selector` means.
struct Spread {
  std::string topology;
  int max_skew = 1;             // at least 1
  int min_domains = 1;          // at least 1
  LabelSelector selector;       // with the pod's own values of matchLabelKeys
  bool heeds_selection = true;  // only nodes count that the pod's selection permits
  bool heeds_taints = false;    // only nodes count whose taints the pod tolerates

  friend bool operator==(const Spread&, const Spread&) = default;
};

struct PodConstraints {
  std::vector<HostPort> ports;
  std::vector<PodTerm> near;   // required podAffinity
  std::vector<PodTerm> apart;  // required podAntiAffinity
  std::vector<Spread> spread;

  // Returns whether there is any.
  bool any() const { return !ports.empty() || !near.empty() || !apart.empty() || !spread.empty(); }
  friend bool operator==(const PodConstraints&, const PodConstraints&) = default;
};

// Returns what the spec of a pod, of any form, demands. `labels` are those of the pod. A malformed entry
// counts as not set.
PodConstraints PodConstraintsOf(const nlohmann::json& spec, const Labels& labels);

}  // namespace crossover::kube
