// Parses Kubernetes quantities: 500m, 2, 1.5Gi, 1e3. Pure; no function throws.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace crossover::kube {

// Returns the amount in whole units (`scale` 1) or thousandths (`scale` 1000). It is rounded up, as the
// scheduler does, and at most INT64_MAX. Returns nothing if `text` is no quantity or is negative.
std::optional<std::int64_t> ParseQuantity(std::string_view text, std::int64_t scale = 1);

// Returns the amount of a JSON string or number, or 0 if it is no quantity.
std::int64_t QuantityOf(const nlohmann::json& value, std::int64_t scale = 1);

}  // namespace crossover::kube
