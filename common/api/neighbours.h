// Finds the ranks of other jobs beside a rank. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/api/gpu_node.h"
#include "common/gains/balance.h"

namespace crossover::api {

// Returns the ranks on the GPU of those of a node's `jobs` that run and are not `own`, which is one of
// `jobs`. `gpu` is a UUID; empty: it is not known, and nothing is beside it.
std::vector<gains::Neighbour> NeighboursOf(std::span<const GpuNode::Job> jobs, const GpuNode::Job& own,
                                           const std::string& gpu);

}  // namespace crossover::api
