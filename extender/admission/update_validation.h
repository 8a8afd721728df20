// Decides who may change the annotations and labels of our domain on a pod that exists. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

namespace crossover::extender::admission {

// Returns why `user` may not make this change of a pod, or nothing if the user may. Users in `writers` may
// change all keys of our domain. Other users may change the mode alone, to a value that its rule accepts: the
// mode is a switch for running pods.
std::optional<std::string> RefusalOfChange(const nlohmann::json& before, const nlohmann::json& after,
                                           const std::string& user, const std::set<std::string>& writers);

}  // namespace crossover::extender::admission
