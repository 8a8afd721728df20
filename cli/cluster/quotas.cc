// Checks quotas and limits that people set on whole GPUs, although pods that share ask for slots.
#include <algorithm>
#include <map>
#include <set>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kGpuQuota[] = "requests.nvidia.com/gpu";
constexpr char kSlotQuota[] = "requests.crossover.dev/slot";
constexpr std::int64_t kMostQuota = 1'000'000'000;  // more counts as so much

// GPUs and slots of the nodes that one ResourceFlavor of Kueue selects.
struct Room {
  std::int64_t gpus = 0, slots = 0;
};

// Returns whether the object has all these labels.
bool HasLabels(const json& object, const std::map<std::string, std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& label) { return LabelOf(object, label.first) == label.second; });
}

Room RoomOf(const ClusterFacts& facts, const std::string& flavor) {
  std::map<std::string, std::string> wanted;
  for (const json& known : facts.Items("resource_flavors")) {
    if (NameOf(known) == flavor) wanted = kube::LabelsAt(kube::At(known, "spec"), "nodeLabels");
  }
  std::set<std::string> nodes;
  for (const json& node : facts.Items("nodes")) {
    if (HasLabels(node, wanted)) nodes.insert(NameOf(node));
  }
  Room room;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (!nodes.contains(node.name)) continue;
    room.gpus += static_cast<std::int64_t>(node.gpus.size());
    room.slots += api::SlotsOf(node);
  }
  return room;
}

// Returns the quotas on GPUs and on slots of all ClusterQueues together, by flavor and resource.
std::map<std::pair<std::string, std::string>, std::int64_t> KueueQuotas(const ClusterFacts& facts) {
  std::map<std::pair<std::string, std::string>, std::int64_t> quotas;
  for (const json& queue : facts.Items("cluster_queues")) {
    for (const json& group : ListAt(queue, {"spec", "resourceGroups"})) {
      for (const json& flavor : ListAt(group, {"flavors"})) {
        for (const json& resource : ListAt(flavor, {"resources"})) {
          const std::string name = TextAt(resource, {"name"});
          if (name != kGpu && name != base::kSlotResource) continue;
          auto& quota = quotas[{TextAt(flavor, {"name"}), name}];
          quota = std::min(kMostQuota, quota + std::min(kMostQuota, CountAt(resource, {}, "nominalQuota")));
        }
      }
    }
  }
  return quotas;
}

}  // namespace

Places QuotasWithoutSlots(const ClusterFacts& facts) {
  std::set<std::string> of_gpus, of_slots;  // namespaces
  for (const json& quota : facts.Items("quotas")) {
    const json& hard = kube::At(kube::At(quota, "spec"), "hard");
    if (!kube::At(hard, kGpuQuota).is_null()) of_gpus.insert(NamespaceOf(quota));
    if (!kube::At(hard, kSlotQuota).is_null()) of_slots.insert(NamespaceOf(quota));
  }
  Places places;
  for (const std::string& name : of_gpus) {
    if (!of_slots.contains(name))
      places.push_back("namespace " + name + ": quota: expected " + kSlotQuota + " beside " + kGpuQuota +
                       ", got none");
  }
  return places;
}

Places LimitRangesOnGpus(const ClusterFacts& facts) {
  Places places;
  for (const json& range : facts.Items("limit_ranges")) {
    for (const json& item : ListAt(range, {"spec", "limits"})) {
      for (const char* key : {"max", "min", "maxLimitRequestRatio"}) {
        if (!kube::At(kube::At(item, key), kGpu).is_null())
          places.push_back("LimitRange " + FullName(range) + ": " + key + "." + kGpu +
                           ": expected none, got " + kube::Text(kube::At(kube::At(item, key), kGpu)));
      }
    }
  }
  return places;
}

Places KueueQuotasTooSmall(const ClusterFacts& facts) {
  Places places;
  for (const auto& [of, quota] : KueueQuotas(facts)) {
    const auto& [flavor, resource] = of;
    const Room room = RoomOf(facts, flavor);
    if (room.slots <= room.gpus || quota > room.gpus) continue;
    places.push_back("flavor " + flavor + ": " + resource + ": expected a quota over " +
                     std::to_string(room.gpus) + ", the number of its GPUs, got " + std::to_string(quota));
  }
  return places;
}

}  // namespace crossover::cli
