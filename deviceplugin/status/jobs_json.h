// Converts a node's jobs to the form that they have in its GPUNode. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "deviceplugin/status/gpu_node.h"

namespace crossover::deviceplugin {

nlohmann::json JobsJson(const std::vector<GpuNode::Job>& jobs);

}  // namespace crossover::deviceplugin
