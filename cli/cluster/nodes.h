// kubectl crossover top: what the daemons of nodes say.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ClusterTopOptions {
  std::string node;  // empty: all
  Showing show;
};
// 1 where no daemon answers.
int ClusterTop(const Kubectl& kubectl, const ClusterTopOptions& options);

// A line for each client; `nodes`: [{"node", "top" as `crossover top -o json` has it, or "error"}]. Pure.
std::string ClusterTopTable(const nlohmann::json& nodes, bool wide);

}  // namespace crossover::cli
