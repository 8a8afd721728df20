// Converts a PodDisruptionBudget of the API server into that of the model. Pure, and does not throw, whatever
// an object contains. Pods, nodes, GPUNodes and JobProfiles are read by common/api.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "extender/cluster/model.h"

namespace crossover::extender {

// Returns nothing for an object without a name or namespace. Any other field that is missing or malformed
// counts as not set.
std::optional<Budget> ParseBudget(const nlohmann::json& object);

}  // namespace crossover::extender
