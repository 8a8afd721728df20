// Defines the part of a node that this product reads, and reads it. The extender and the node daemon read
// nodes by this function alone; each keeps of the result what it needs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/node_selection.h"
#include "common/kube/pod_requests.h"

namespace crossover::api {

using kube::Labels;

struct Taint {
  std::string key, value, effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Node {
  std::string name;
  std::string uid{};
  Labels labels{};
  std::vector<Taint> taints{};
  kube::Requests allocatable{};  // GPU slots are among `others`
  bool cordoned = false;
  bool ready = false;
  Labels annotations{};    // annotations of our domain, and base::kScaleDownAnnotation
  std::string runtime{};   // container runtime and its version, as the kubelet reports it
  std::string os_image{};  // such as "Ubuntu 24.04.1 LTS", as the kubelet reports it

  friend bool operator==(const Node&, const Node&) = default;
};

// Reads a node as an API server has it. Returns nothing if its name is missing. Any other field that is
// missing or malformed counts as not set. Does not throw.
std::optional<Node> ParseNode(const nlohmann::json& object);

}  // namespace crossover::api
