// Reads JSON values of unknown form. No function throws.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace crossover::kube {

// Returns the value of `key`, or null if `object` is no object or lacks it.
inline const nlohmann::json& At(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

// Returns the string, or "" if `value` is no string.
inline std::string Text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

// Returns the array at `key`, or an empty one if there is no array.
inline const nlohmann::json& ListAt(const nlohmann::json& object, const char* key) {
  static const nlohmann::json empty = nlohmann::json::array();
  const nlohmann::json& list = At(object, key);
  return list.is_array() ? list : empty;
}

// Returns the strings in the object at `key`, by name. Skips other values.
inline std::map<std::string, std::string> LabelsAt(const nlohmann::json& object, const char* key) {
  std::map<std::string, std::string> labels;
  const nlohmann::json& pairs = At(object, key);
  if (!pairs.is_object()) return labels;
  for (const auto& [name, value] : pairs.items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

// Returns `value` as text. Replaces bytes that are not valid UTF-8.
inline std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Returns metadata.resourceVersion, or "" if the object has none.
inline std::string VersionOf(const nlohmann::json& object) {
  return Text(At(At(object, "metadata"), "resourceVersion"));
}

}  // namespace crossover::kube
