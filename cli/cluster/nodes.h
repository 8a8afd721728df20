// Runs `kubectl crossover top`, which shows what the node daemons report.
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
// Prints the table and returns the exit code: 1 if no daemon answers.
int ClusterTop(const Kubectl& kubectl, const ClusterTopOptions& options);

// Returns a table with a line for each client. `nodes` is a list of {"node", and "top" as `crossover top -o
// json` prints it or "error"}. Pure.
std::string ClusterTopTable(const nlohmann::json& nodes, bool wide);

}  // namespace crossover::cli
