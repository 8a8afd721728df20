// Finds the node daemons and asks them by exec in their pods.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/kubectl.h"

namespace crossover::cli {

inline constexpr char kDaemonContainer[] = "deviceplugin";

// Returns the pods of the node daemons, or that of `node` alone if it is not empty. Returns nothing, with
// the reason in `error`, if there is none.
std::optional<std::vector<nlohmann::json>> Daemons(const Kubectl& kubectl, const std::string& node,
                                                   std::string* error);
// Runs `command` in the pod of a daemon and returns the JSON object that it prints. Returns nothing, with
// the reason in `error`, if it prints none.
std::optional<nlohmann::json> AskDaemon(const Kubectl& kubectl, const nlohmann::json& pod,
                                        std::vector<std::string> command, std::string* error);

}  // namespace crossover::cli
