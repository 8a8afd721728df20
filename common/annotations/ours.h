// Finds annotations and labels of our domain, crossover.dev, on Kubernetes objects. Pure; no function
// throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace crossover::annotations {

using Annotations = std::map<std::string, std::string>;

// Returns whether `key` belongs to our domain.
bool IsOurs(std::string_view key);

// Returns the annotations or labels of `object` that belong to our domain. `key` is "annotations" or
// "labels".
Annotations OursOf(const nlohmann::json& object, const char* key);

// Returns `value` in a form that is safe in messages: at most 60 characters and "..", and a question mark
// for each byte that is not printable ASCII. Any user may have written `value`.
std::string Shown(std::string_view value);

}  // namespace crossover::annotations
