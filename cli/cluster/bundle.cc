#include "cli/cluster/bundle.h"

#include <nlohmann/json.hpp>
#include <string>

namespace crossover::cli {
namespace {

using nlohmann::json;

constexpr char kRemoved[] = "(removed)";

bool IsKnown(const std::string& key) {
  for (const char* domain : {"crossover.dev/", "kubernetes.io/", "nvidia.com/", "k8s.io/"}) {
    if (key.find(domain) != std::string::npos) return true;
  }
  return false;
}

void RedactMap(json* map) {
  if (!map->is_object()) return;
  for (auto& [key, value] : map->items()) {
    // It repeats a whole object, as it was applied.
    if (!IsKnown(key) || key == "kubectl.kubernetes.io/last-applied-configuration") value = kRemoved;
  }
}

void RedactEnvironment(json* environment) {
  if (!environment->is_array()) return;
  for (json& entry : *environment) {
    if (entry.is_object() && entry.contains("value")) entry["value"] = kRemoved;
  }
}

void Redact(json* value) {
  if (value->is_array()) {
    for (json& item : *value) Redact(&item);
  }
  if (!value->is_object()) return;
  value->erase("managedFields");
  for (auto& [key, item] : value->items()) {
    if (key == "annotations" || key == "labels") {
      RedactMap(&item);
    } else if (key == "env") {
      RedactEnvironment(&item);
    } else if (key == "command" || key == "args") {
      item = kRemoved;
    } else {
      Redact(&item);
    }
  }
}

}  // namespace

json Redacted(const json& items) {
  json copy = items;
  Redact(&copy);
  return copy;
}

}  // namespace crossover::cli
