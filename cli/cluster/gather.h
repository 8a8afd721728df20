// Asks a cluster for what the doctor looks at, all at once.
#pragma once

#include "cli/cluster/facts.h"
#include "cli/cluster/kubectl.h"

namespace crossover::cli {

ClusterFacts Gather(const Kubectl& kubectl);

// What the time is in a cluster: most of its own programs renew Leases every few seconds. `local_s`: here,
// which it is where that is close, or where nothing was renewed within ten minutes of it. Pure.
double TimeIn(const nlohmann::json& leases, double local_s);

}  // namespace crossover::cli
