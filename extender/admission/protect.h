// Who may change what pods say in annotations and labels of ours once they are there. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

namespace crossover::extender::admission {

// Why this change of a pod is refused; nothing where it is not. Whoever is in `writers` may change all of
// them, everybody else the mode alone: it is a switch, to be thrown while the pod runs.
std::optional<std::string> RefusalOfChange(const nlohmann::json& before, const nlohmann::json& after,
                                           const std::string& user, const std::set<std::string>& writers);

}  // namespace crossover::extender::admission
