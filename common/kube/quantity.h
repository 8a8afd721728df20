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

// Returns the count that a JSON string or number says, such as 4, "4" or "1k", which is how an API server
// writes 1000. Returns nothing if it is no quantity, is negative, is above INT64_MAX / 1000, or has a
// fraction. As an API server does, this first rounds the amount up to thousandths.
std::optional<std::int64_t> CountOf(const nlohmann::json& value);

}  // namespace crossover::kube
