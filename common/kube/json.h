// Looks into objects that may be anything: none of it throws.
#pragma once

#include <map>
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

// What is no list is empty.
inline const nlohmann::json& ListAt(const nlohmann::json& object, const char* key) {
  static const nlohmann::json empty = nlohmann::json::array();
  const nlohmann::json& list = At(object, key);
  return list.is_array() ? list : empty;
}

// Texts by name.
inline std::map<std::string, std::string> LabelsAt(const nlohmann::json& object, const char* key) {
  std::map<std::string, std::string> labels;
  const nlohmann::json& pairs = At(object, key);
  if (!pairs.is_object()) return labels;
  for (const auto& [name, value] : pairs.items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

// As text. What is no UTF-8 in it is replaced.
inline std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// metadata.resourceVersion; empty for what has none.
inline std::string VersionOf(const nlohmann::json& object) {
  return Text(At(At(object, "metadata"), "resourceVersion"));
}

}  // namespace crossover::kube
