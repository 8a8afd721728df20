// Interprets what the API server answers about an installation. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crossover::extender {

// A Holder is a pod that holds slots of a node.
struct Holder {
  std::string name_space, pod, node;
  std::size_t slots = 0;
};
// Returns the holders in a list of GPUNodes, sorted; a pod occurs once for each of its nodes.
std::vector<Holder> HoldersIn(const nlohmann::json& gpu_nodes);

// Returns whether `pod`, the pod of that name, still holds slots on the holder's node. It does not if it
// has ended, runs on another node, or is a new pod that asks for no slots. The GPUNode of a node whose
// daemon is gone still lists such pods. Returns true if `pod` cannot be read.
bool StillHolds(const Holder& holder, const nlohmann::json& pod);

// Returns a line for users, such as "ns/pod on node: 2 slots".
std::string LineOf(const Holder& holder);

// Returns a pod that wants to share, as a user would write it.
nlohmann::json PodThatShares(const std::string& name_space);

// Returns why the webhook did not rewrite `pod`, the API server's answer to such a pod; "" if it did.
std::string WhyNotRewritten(const nlohmann::json& pod);

}  // namespace crossover::extender
