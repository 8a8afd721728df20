#include "deviceplugin/inventory/competing_plugins.h"

#include <algorithm>
#include <string_view>

#include "common/base/gpu_phrases.h"

namespace crossover::deviceplugin {
namespace {

// The name also stands for nvidia.com/gpu.shared. The domain alone is not enough, because NICs have it too.
constexpr std::string_view kNvidias = "nvidia.com/gpu";
constexpr std::string_view kUuid = "GPU-";
constexpr std::string_view kInstance = "MIG-";  // MIG instance of a split GPU, which we leave alone

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool NamesNoGpu(const std::vector<std::string>& ids) {
  return std::none_of(ids.begin(), ids.end(),
                      [](const std::string& id) { return Contains(id, kUuid) || Contains(id, kInstance); });
}

// Returns whether the resource stands for all GPUs of the node. This holds for a GPU resource of NVIDIA's
// whose device names are not UUIDs.
bool StandsForAll(const std::string& resource, const std::vector<std::string>& ids) {
  return (resource == kNvidias ||
          resource.compare(0, kNvidias.size() + 1, std::string(kNvidias) + ".") == 0) &&
         NamesNoGpu(ids);
}

bool Names(const std::vector<std::string>& ids, const std::string& uuid) {
  return std::any_of(ids.begin(), ids.end(), [&uuid](const std::string& id) { return Contains(id, uuid); });
}

}  // namespace

std::map<std::string, base::WithheldReason> FindCompetingPlugins(
    const std::map<std::string, std::vector<std::string>>& registered,
    const std::map<std::string, std::int64_t>& allocatable, const std::vector<std::string>& uuids) {
  std::map<std::string, base::WithheldReason> found;
  for (const auto& [resource, ids] : registered) {
    const auto count = allocatable.find(resource);
    if (ids.empty() || count == allocatable.end() || count->second == 0) continue;
    const bool all = StandsForAll(resource, ids);
    for (const std::string& uuid : uuids) {
      if (!all && !Names(ids, uuid)) continue;
      found.emplace(
          uuid, base::WithheldReason{base::Withheld::kOtherPlugin,
                                     std::string(base::kSaysOtherPlugin) + " gives it out, as " + resource});
    }
  }
  return found;
}

std::map<std::string, std::set<std::string>> FindPodsOfCompetingPlugins(
    const std::vector<DeviceAllocationByOthers>& by_others, const std::vector<Pod>& pods,
    const std::vector<std::string>& uuids) {
  std::map<std::string, std::set<std::string>> found;
  for (const DeviceAllocationByOthers& entry : by_others) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr || entry.ids.empty()) continue;
    const bool all = StandsForAll(entry.resource, entry.ids);
    for (const std::string& uuid : uuids) {
      if (all || Names(entry.ids, uuid)) found[uuid].insert(NameOf(*pod) + ", as " + entry.resource);
    }
  }
  return found;
}

}  // namespace crossover::deviceplugin
