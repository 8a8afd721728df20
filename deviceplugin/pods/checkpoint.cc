#include "deviceplugin/pods/checkpoint.h"

#include <algorithm>
#include <cstdint>

#include "common/kube/json.h"

namespace crossover::deviceplugin {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

void Append(const json& list, std::vector<std::string>* ids) {
  if (!list.is_array()) return;
  for (const json& id : list) {
    if (id.is_string()) ids->push_back(id.get<std::string>());
  }
}

// Returns the IDs, sorted, in an object of the form {"<NUMA node, or -1>": ["id", ..], ..}.
std::vector<std::string> Ids(const json& by_node) {
  std::vector<std::string> ids;
  if (!by_node.is_object()) return ids;
  for (const auto& [node, list] : by_node.items()) Append(list, &ids);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Returns the bytes of a Base64 text, the form of bytes in JSON, up to the first character that is not
// Base64.
std::string Decoded(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

}  // namespace

std::optional<Checkpoint> ParseCheckpoint(std::string_view text, const std::string& resource) {
  const json file = json::parse(text, nullptr, false);
  const json& data = At(file, "Data");
  if (!data.is_object()) return std::nullopt;
  Checkpoint checkpoint;
  const json& entries = At(data, "PodDeviceEntries");
  for (const json& entry : entries.is_array() ? entries : json::array()) {
    const std::string name = Text(At(entry, "ResourceName"));
    if (name != resource) {
      checkpoint.by_others.push_back({name, Text(At(entry, "PodUID")), Ids(At(entry, "DeviceIDs"))});
      continue;
    }
    checkpoint.handed_out.push_back({Text(At(entry, "PodUID")), Text(At(entry, "ContainerName")),
                                     Ids(At(entry, "DeviceIDs")), Decoded(Text(At(entry, "AllocResp")))});
  }
  const json& registered = At(data, "RegisteredDevices");
  if (!registered.is_object()) return checkpoint;
  for (const auto& [name, ids] : registered.items()) {
    if (name != resource) Append(ids, &checkpoint.registered[name]);
  }
  return checkpoint;
}

}  // namespace crossover::deviceplugin
