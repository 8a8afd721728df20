// Says in which topology domains nodes are. Pure.
#pragma once

#include <string>
#include <vector>

#include "extender/cluster/cluster_cache.h"
#include "extender/profiles/uplinks.h"

namespace crossover::extender {

// Returns the values of the node's labels `labels`, the widest domain first, up to the last one that it has.
// Those that it lacks before are "".
std::vector<std::string> DomainsOf(const Node& node, const std::vector<std::string>& labels);

// Returns where all nodes with GPUs are, with the speeds of their links.
NodePlaces PlacesOf(const ClusterCache& cache, const std::vector<std::string>& labels);

}  // namespace crossover::extender
