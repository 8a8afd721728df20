// Interprets what the API server answers about an installation. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crossover::extender {

// A Holder is a pod that holds slots of a node, or is about to: it is bound to the node and has not ended.
struct Holder {
  std::string name_space, pod, node;
  std::size_t slots = 0;
};
// Returns the holders in a list of pods, in its order.
std::vector<Holder> HoldersIn(const nlohmann::json& pods);

// Returns a line for users, such as "ns/pod on node: 2 slots".
std::string LineOf(const Holder& holder);

// Returns a pod that wants to share, as a user would write it.
nlohmann::json PodThatShares(const std::string& name_space);

// Returns why the webhook did not rewrite `pod`, the API server's answer to PodThatShares(); "" if it did.
std::string WhyNotRewritten(const nlohmann::json& pod);

}  // namespace crossover::extender
