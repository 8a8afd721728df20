// A node's jobs as its GPUNode has them. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "deviceplugin/publish/gpu_node.h"

namespace crossover::deviceplugin {

nlohmann::json JobsJson(const std::vector<GpuNode::Job>& jobs);

}  // namespace crossover::deviceplugin
