#include "deviceplugin/pods/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

constexpr char kFile[] = "/kubelet_internal_checkpoint";

const json& At(const json& object, const char* key) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

std::string Text(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

// {"<NUMA node, or -1>": ["id", ..], ..}
std::vector<std::string> Ids(const json& by_node) {
  std::vector<std::string> ids;
  if (!by_node.is_object()) return ids;
  for (const auto& [node, list] : by_node.items()) {
    for (const json& id : list.is_array() ? list : json::array()) {
      if (id.is_string()) ids.push_back(id.get<std::string>());
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::optional<std::vector<HandedOut>> ParseCheckpoint(std::string_view text, const std::string& resource) {
  const json file = json::parse(text, nullptr, false);
  const json& data = At(file, "Data");
  if (!data.is_object()) return std::nullopt;
  std::vector<HandedOut> handed_out;
  const json& entries = At(data, "PodDeviceEntries");
  for (const json& entry : entries.is_array() ? entries : json::array()) {
    if (Text(At(entry, "ResourceName")) != resource) continue;
    handed_out.push_back(
        {Text(At(entry, "PodUID")), Text(At(entry, "ContainerName")), Ids(At(entry, "DeviceIDs"))});
  }
  return handed_out;
}

std::optional<std::vector<HandedOut>> ReadCheckpoint(const std::string& directory,
                                                     const std::string& resource) {
  std::ifstream file(directory + kFile);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return std::nullopt;
  return ParseCheckpoint(text.str(), resource);
}

}  // namespace crossover::deviceplugin
