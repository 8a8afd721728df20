// Decides what a bundle of the doctor contains. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/cluster/facts.h"

namespace crossover::cli {

// Returns `items` without what may be secret, and without what is long and says nothing. It removes:
// - values of environment variables; commands and arguments;
// - paths and headers that probes and hooks request by HTTP; what containers said at their end;
// - volumes that may have options of a driver; how PodMonitors authenticate, and their request parameters;
// - annotations, labels and selectors by them, if their key is not ours, NVIDIA's or Kubernetes' own;
// - values of those keys that hold what a user wrote;
// - managed fields.
// Each removed value except managed fields is replaced by a mark.
nlohmann::json Redacted(const nlohmann::json& items);

// Returns what else to ask: the last log of each of our programs, the log before its container restarted,
// and the answers of the daemons about their nodes. Each question is {"file": a unique name in the bundle,
// "words": the arguments for kubectl}.
std::vector<nlohmann::json> QuestionsOf(const ClusterFacts& facts);

}  // namespace crossover::cli
