// Annotations and labels of our domain on an object of the API server. Pure; none of it throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace crossover::annotations {

using Annotations = std::map<std::string, std::string>;

// Whether a key is of our domain.
bool IsOurs(std::string_view key);

// Those annotations, or labels, of an object that are ours. `key`: "annotations" or "labels".
Annotations OursOf(const nlohmann::json& object, const char* key);

// Text that anybody wrote, as messages show it: cut where it is long, and printable.
std::string Shown(std::string_view value);

}  // namespace crossover::annotations
