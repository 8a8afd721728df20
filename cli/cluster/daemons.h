// The daemons of nodes, and what they say: asked by exec in their pods.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/kubectl.h"

namespace crossover::cli {

inline constexpr char kDaemonContainer[] = "deviceplugin";

// Pods of daemons, of `node` alone where that is not empty. Nothing, and why, where there is none.
std::optional<std::vector<nlohmann::json>> Daemons(const Kubectl& kubectl, const std::string& node,
                                                   std::string* error);
// What a command says in JSON in the pod of a daemon. Nothing, and why, where it says none.
std::optional<nlohmann::json> AskDaemon(const Kubectl& kubectl, const nlohmann::json& pod,
                                        std::vector<std::string> command, std::string* error);

}  // namespace crossover::cli
