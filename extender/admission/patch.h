// JSON patches (RFC 6902) that are sure to apply. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace crossover::extender::admission {

using Differ = nlohmann::json (*)(const nlohmann::json& from, const nlohmann::json& to);

// What makes `to` of `from`, as `differ` says. Nothing where that is not so when tried: an API server would
// refuse the pod, whatever the failure policy.
std::optional<nlohmann::json> PatchBetween(const nlohmann::json& from, const nlohmann::json& to,
                                           Differ differ = nullptr);

}  // namespace crossover::extender::admission
