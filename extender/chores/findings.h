// What answers of an API server say about an installation.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crossover::extender {

// A pod that holds slots of a node.
struct Holder {
  std::string name_space, pod, node;
  std::size_t slots = 0;
};
// By a list of GPUNodes, sorted: each pod once on each of its nodes.
std::vector<Holder> HoldersIn(const nlohmann::json& gpu_nodes);

// Whether it does, by the pod of that name: one that is over, or elsewhere by now, or another one that asks
// for no slots, stands in the GPUNode of a node whose daemon is gone. What is no pod does not say that it
// holds none.
bool StillHolds(const Holder& holder, const nlohmann::json& pod);

// For people.
std::string LineOf(const Holder& holder);

// A pod that wants to share, as users write it.
nlohmann::json PodThatShares(const std::string& name_space);

// Why such a pod, as it came to be, was not made to share; empty: it was.
std::string WhyNotRewritten(const nlohmann::json& pod);

}  // namespace crossover::extender
