// kubectl crossover top and timeline: what the daemons of nodes say, asked by exec in their pods.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/output.h"

namespace crossover::cli {

struct ClusterTopOptions {
  std::string node;  // empty: all
  Format format = Format::kText;
  std::optional<double> watch_s;  // again and again, whatever a round comes to
};
// 1 where no daemon answers, or nobody reads what it prints; only that ends what goes on again and again.
int ClusterTop(const Kubectl& kubectl, const ClusterTopOptions& options);

// `crossover timeline` on one node, with the words that follow.
int ClusterTimeline(const Kubectl& kubectl, const std::string& node, const std::vector<std::string>& words);

// A line for each client; `nodes`: [{"node", "top" as `crossover top -o json` has it, or "error"}]. Pure.
std::string ClusterTopTable(const nlohmann::json& nodes, bool wide);

}  // namespace crossover::cli
