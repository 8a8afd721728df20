#include <set>
#include <string>
#include <utility>

#include "extender/cluster/fields.h"
#include "extender/cluster/parse.h"
#include "extender/cluster/resources.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::ListAt;
using nlohmann::json;

constexpr std::int64_t kMostSlotsOfGpu = 1024;  // per GPU
constexpr std::int64_t kMost = INT64_MAX;

GpuNode::Gpu GpuOf(const json& object) {
  GpuNode::Gpu gpu;
  gpu.uuid = TextAt(object, "uuid");
  gpu.model = TextAt(object, "model");
  gpu.memory = static_cast<std::uint64_t>(WholeAt(object, "memoryBytes", 0, kMost));
  gpu.slots = static_cast<int>(WholeAt(object, "slots", 0, kMostSlotsOfGpu));
  gpu.healthy = IsTrue(object, "healthy");
  gpu.withheld = TextAt(object, "withheld");
  for (const json& holder : ListAt(object, "holders")) {
    std::set<std::string> slots;
    for (const json& slot : ListAt(holder, "slots")) {
      if (slot.is_string()) slots.insert(slot.get<std::string>());
    }
    gpu.holders.push_back({.name_space = TextAt(holder, "namespace"),
                           .pod = TextAt(holder, "pod"),
                           .container = TextAt(holder, "container"),
                           .slots = std::move(slots)});
  }
  return gpu;
}

Resources RequestedIn(const json& status) {
  const json& requested = At(status, "requested");
  Resources resources{.others = kube::AmountsIn(At(requested, "others")).others};
  resources.milli_cpu = WholeAt(requested, "milliCPU", 0, kMost);
  resources.memory_bytes = WholeAt(requested, "memoryBytes", 0, kMost);
  const std::int64_t pods = WholeAt(requested, "pods", 0, kMost);
  if (pods > 0) resources.others[kPods] = pods;
  return resources;
}

}  // namespace

std::optional<Node> ParseNode(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& spec = At(object, "spec");
  const json& status = At(object, "status");
  Node node;
  node.name = TextAt(metadata, "name");
  if (node.name.empty()) return std::nullopt;
  node.uid = TextAt(metadata, "uid");
  node.labels = kube::LabelsAt(metadata, "labels");
  node.cordoned = IsTrue(spec, "unschedulable");
  for (const json& taint : ListAt(spec, "taints")) {
    node.taints.push_back(
        {.key = TextAt(taint, "key"), .value = TextAt(taint, "value"), .effect = TextAt(taint, "effect")});
  }
  node.allocatable = kube::AmountsIn(At(status, "allocatable"));
  for (const json& condition : ListAt(status, "conditions")) {
    if (TextAt(condition, "type") == "Ready") node.ready = TextAt(condition, "status") == "True";
  }
  return node;
}

std::optional<GpuNode> ParseGpuNode(const json& object) {
  const json& status = At(object, "status");
  GpuNode node;
  node.name = TextAt(At(object, "metadata"), "name");
  if (node.name.empty()) return std::nullopt;
  node.mode = TextAt(status, "mode");
  node.maintenance = IsTrue(status, "maintenance");
  const json& sharing = At(status, "sharing");
  node.sharing = TextAt(sharing, "kind");
  node.multi_user = IsTrue(sharing, "multiUser");
  node.link_bytes_per_s = static_cast<double>(WholeAt(status, "linkBytesPerSecond", 0, kMost));
  for (const json& gpu : ListAt(status, "gpus")) {
    GpuNode::Gpu parsed = GpuOf(gpu);
    const bool known = std::any_of(node.gpus.begin(), node.gpus.end(),
                                   [&](const GpuNode::Gpu& other) { return other.uuid == parsed.uuid; });
    if (!parsed.uuid.empty() && !known) node.gpus.push_back(std::move(parsed));
  }
  node.requested = RequestedIn(status);
  node.jobs = JobsOf(object);
  return node;
}

}  // namespace crossover::extender
