// Amounts as Kubernetes writes them: 500m, 2, 1.5Gi, 1e3. Pure; nothing in it throws.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace crossover::kube {

// In wholes (`scale` 1) or thousandths (`scale` 1000), rounded up as a scheduler rounds, at most INT64_MAX.
// Nothing for what is no amount, or less than nothing.
std::optional<std::int64_t> ParseQuantity(std::string_view text, std::int64_t scale = 1);

// Likewise of a JSON value, which may be a text or a number; 0 for what is no amount.
std::int64_t QuantityOf(const nlohmann::json& value, std::int64_t scale = 1);

}  // namespace crossover::kube
