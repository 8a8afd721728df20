#include "deviceplugin/pods/checkpoint.h"

#include <algorithm>

#include "common/files/read_file.h"
#include "common/kube/json.h"

namespace crossover::deviceplugin {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr char kFile[] = "/kubelet_internal_checkpoint";

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
  std::string why;
  const auto text = files::ReadFile(directory + kFile, &why);
  if (!text) return std::nullopt;
  return ParseCheckpoint(*text, resource);
}

}  // namespace crossover::deviceplugin
