// Tells how many slots of GPUs a container asks for. Pure; no function throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/quantity.h"

namespace crossover::kube {

// Returns the number of slots that a container with this limit and this request asks for. Both are JSON
// strings or numbers, or null. Limits and requests of an extended resource must be equal. The larger one is
// taken, in case the API server has not filled in the other. What is no quantity counts as 0.
inline std::int64_t SlotsOf(const nlohmann::json& limit, const nlohmann::json& request) {
  return std::max(QuantityOf(limit), QuantityOf(request));
}

// Returns the number of slots that a container asks for.
inline std::int64_t SlotsOf(const nlohmann::json& container) {
  const nlohmann::json& resources = At(container, "resources");
  return SlotsOf(At(At(resources, "limits"), base::kSlotResource),
                 At(At(resources, "requests"), base::kSlotResource));
}

}  // namespace crossover::kube
