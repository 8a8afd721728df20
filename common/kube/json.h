// Looks into objects that may be anything: none of it throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace crossover::kube {

// What is not there is null.
inline const nlohmann::json& At(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

// What is no text is empty.
inline std::string Text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace crossover::kube
