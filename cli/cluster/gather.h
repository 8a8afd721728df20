// Asks a cluster for what the doctor looks at, all at once.
#pragma once

#include "cli/cluster/facts.h"
#include "cli/cluster/kubectl.h"

namespace crossover::cli {

ClusterFacts Gather(const Kubectl& kubectl);

}  // namespace crossover::cli
