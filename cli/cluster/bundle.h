// What a bundle of the doctor holds. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/cluster/facts.h"

namespace crossover::cli {

// Objects without what may be secret or is long and says nothing: values of environments; commands and
// arguments; what probes and hooks ask for by HTTP; what containers said at their end; volumes that may have
// options of a driver; how PodMonitors come in, and with what they ask; annotations, labels and selections by
// these whose keys are not ours, NVIDIA's or Kubernetes' own, or that hold what somebody wrote; managed
// fields. What was taken out is named.
nlohmann::json Redacted(const nlohmann::json& items);

// What else to ask: what each of our programs logged last, and before its container was started again; then
// what the daemons say of their nodes. Each is {"file": its name in the bundle, which no other has,
// "words": of kubectl}.
std::vector<nlohmann::json> QuestionsOf(const ClusterFacts& facts);

}  // namespace crossover::cli
