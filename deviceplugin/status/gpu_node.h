// Turns what the daemon knows of its node into the GPUNode that it publishes (common/api/gpu_node.h). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/api/gpu_node.h"
#include "common/base/withheld.h"
#include "deviceplugin/signals/figures.h"

namespace crossover::deviceplugin {

using api::GpuNode;

// Sets why the GPU's slots are not given out, and its health. `memory_unknown`: it has one slot for that
// reason alone.
void SetHealth(const std::optional<base::WithheldReason>& withheld, bool memory_unknown, GpuNode::Gpu* gpu);
GpuNode::Signals SignalsOf(const signals::Figures& figures);

// Returns the body of a server-side apply request.
std::string BodyOf(const GpuNode& node);
// Returns the part that a scheduler must know at once, as text: which containers hold which slots, and which
// slots can be given out. A change of this text makes the publisher publish at once.
std::string UrgentPartOf(const GpuNode& node);

}  // namespace crossover::deviceplugin
