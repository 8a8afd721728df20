// Makes JSON patches (RFC 6902) that are known to apply. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace crossover::extender::admission {

// Returns a patch that turns `from` into `to`.
using Differ = nlohmann::json (*)(const nlohmann::json& from, const nlohmann::json& to);

// Returns the patch that `differ` makes (null: nlohmann::json::diff), or nothing if it does not turn `from`
// into `to` when applied. The API server would refuse a pod with such a patch, whatever the failure policy.
std::optional<nlohmann::json> PatchBetween(const nlohmann::json& from, const nlohmann::json& to,
                                           Differ differ = nullptr);

}  // namespace crossover::extender::admission
