// What a node's GPUNode says of its jobs (status.jobs). Pure; nothing in it throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "extender/cluster/model.h"

namespace crossover::extender {

inline constexpr std::size_t kMostJobsOfNode = 256;

// `gpu_node`: the whole object, of which nothing is trusted. Jobs without namespace or gang are left out,
// as are figures and gains that cannot be.
std::vector<GpuNode::Job> JobsOf(const nlohmann::json& gpu_node);

}  // namespace crossover::extender
