// Finds annotations and labels of our domain, crossover.dev, on Kubernetes objects. Pure; no function
// throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/refusal.h"

namespace crossover::annotations {

using Annotations = std::map<std::string, std::string>;

// Returns whether `key` belongs to our domain.
bool IsOurs(std::string_view key);

// Returns the annotations or labels of `object` that belong to our domain. `key` is "annotations" or
// "labels".
Annotations OursOf(const nlohmann::json& object, const char* key);

using base::Shown;

}  // namespace crossover::annotations
