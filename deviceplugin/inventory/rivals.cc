#include "deviceplugin/inventory/rivals.h"

#include <algorithm>
#include <string_view>

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kNvidias =
    "nvidia.com/gpu";  // also nvidia.com/gpu.shared; NICs have the domain, too
constexpr std::string_view kUuid = "GPU-";
constexpr std::string_view kInstance = "MIG-";  // of a GPU that is split: we leave it alone

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool NamesNoGpu(const std::vector<std::string>& ids) {
  return std::none_of(ids.begin(), ids.end(),
                      [](const std::string& id) { return Contains(id, kUuid) || Contains(id, kInstance); });
}

}  // namespace

std::map<std::string, std::string> FindRivals(
    const std::map<std::string, std::vector<std::string>>& registered,
    const std::map<std::string, std::string>& allocatable, const std::vector<std::string>& uuids) {
  std::map<std::string, std::string> rivals;
  for (const auto& [resource, ids] : registered) {
    const auto count = allocatable.find(resource);
    if (ids.empty() || count == allocatable.end() || count->second == "0") continue;
    const bool all = (resource == kNvidias ||
                      resource.compare(0, kNvidias.size() + 1, std::string(kNvidias) + ".") == 0) &&
                     NamesNoGpu(ids);
    for (const std::string& uuid : uuids) {
      const bool named =
          std::any_of(ids.begin(), ids.end(), [&uuid](const std::string& id) { return Contains(id, uuid); });
      if (all || named) rivals.emplace(uuid, "another device plugin gives it out, as " + resource);
    }
  }
  return rivals;
}

}  // namespace crossover::deviceplugin
