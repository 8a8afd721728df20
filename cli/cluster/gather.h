// Reads from a cluster everything that the doctor looks at, all lists in parallel.
#pragma once

#include "cli/cluster/facts.h"
#include "cli/cluster/kubectl.h"

namespace crossover::cli {

// Returns the facts of the cluster. A list that cannot be read is in `unseen`.
ClusterFacts Gather(const Kubectl& kubectl);

// Returns the time in the cluster, in Unix seconds. Most programs of a cluster renew their Leases every few
// seconds, so the median of the renewals is the time. Returns `local_s`, the time here, if the two are
// close, or if no Lease was renewed within ten minutes of it. Pure.
double TimeIn(const nlohmann::json& leases, double local_s);

}  // namespace crossover::cli
