// What answers of an API server say about an installation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crossover::extender {

// Lines, sorted: pods that hold slots, by a list of GPUNodes, with the node and how many slots there.
std::vector<std::string> HoldersIn(const nlohmann::json& gpu_nodes);

// A pod that wants to share, as users write it.
nlohmann::json PodThatShares(const std::string& name_space);

// Why such a pod, as it came to be, was not made to share; empty: it was.
std::string WhyNotRewritten(const nlohmann::json& pod);

}  // namespace crossover::extender
