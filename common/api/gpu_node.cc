#include "common/api/gpu_node.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/api/fields.h"
#include "common/base/names.h"
#include "common/text/number.h"

namespace crossover::api {
namespace {

using kube::At;
using kube::kPods;
using kube::ListAt;
using nlohmann::json;

constexpr std::int64_t kMostSlotsOfGpu = 1024;  // per GPU
constexpr std::int64_t kMost = INT64_MAX;

GpuNode::Holder HolderOf(const json& object) {
  GpuNode::Holder holder{.name_space = TextAt(object, "namespace"),
                         .pod = TextAt(object, "pod"),
                         .container = TextAt(object, "container"),
                         .slots = {},
                         .gang = TextAt(object, "gang")};
  for (const json& slot : ListAt(object, "slots")) {
    if (slot.is_string()) holder.slots.insert(slot.get<std::string>());
  }
  return holder;
}

json HolderJson(const GpuNode::Holder& holder) {
  return {{"namespace", holder.name_space},
          {"pod", holder.pod},
          {"container", holder.container},
          {"gang", holder.gang},
          {"slots", holder.slots}};
}

std::optional<GpuNode::Signals> SignalsOf(const json& object) {
  if (!object.is_object()) return std::nullopt;
  GpuNode::Signals signals{
      .signallers = static_cast<int>(WholeAt(object, "signallers", 0, INT32_MAX)),
      .late = static_cast<std::uint64_t>(WholeAt(object, "late", 0, kMost)),
      .device_memory = static_cast<std::uint64_t>(WholeAt(object, "deviceMemoryBytes", 0, kMost)),
      .device_memory_source = TextAt(object, "deviceMemorySource")};
  if (At(object, "hostMemoryBytes").is_number())
    signals.host_memory = static_cast<std::uint64_t>(WholeAt(object, "hostMemoryBytes", 0, kMost));
  if (At(object, "cpuSeconds").is_number()) signals.cpu_seconds = RealAt(object, "cpuSeconds");
  return signals;
}

json SignalsJson(const GpuNode::Signals& signals) {
  constexpr std::uint64_t kMiB = 1 << 20;
  json object = {{"signallers", signals.signallers}, {"late", signals.late}};
  if (signals.host_memory) object["hostMemoryBytes"] = (*signals.host_memory + kMiB / 2) / kMiB * kMiB;
  if (signals.cpu_seconds) object["cpuSeconds"] = text::ToFigures(*signals.cpu_seconds, 2);
  if (signals.device_memory != 0) {
    object["deviceMemoryBytes"] = signals.device_memory;
    object["deviceMemorySource"] = signals.device_memory_source;
  }
  return object;
}

GpuNode::Gpu GpuOf(const json& object) {
  GpuNode::Gpu gpu{.uuid = TextAt(object, "uuid"),
                   .model = TextAt(object, "model"),
                   .memory = static_cast<std::uint64_t>(WholeAt(object, "memoryBytes", 0, kMost)),
                   .slots = static_cast<int>(WholeAt(object, "slots", 0, kMostSlotsOfGpu)),
                   .healthy = IsTrue(object, "healthy"),
                   .withheld = TextAt(object, "withheld"),
                   .holders = {}};
  GpuNode::Notes notes{.reason = TextAt(object, "reason"),
                       .no_turns = TextAt(object, "noTurns"),
                       .signals = SignalsOf(At(object, "signals"))};
  if (notes != GpuNode::Notes()) gpu.notes = std::move(notes);
  for (const json& holder : ListAt(object, "holders")) gpu.holders.push_back(HolderOf(holder));
  return gpu;
}

json GpuJson(const GpuNode::Gpu& gpu) {
  json object = {{"uuid", gpu.uuid},   {"model", gpu.model},     {"memoryBytes", gpu.memory},
                 {"slots", gpu.slots}, {"healthy", gpu.healthy}, {"holders", json::array()}};
  for (const GpuNode::Holder& holder : gpu.holders) object["holders"].push_back(HolderJson(holder));
  if (!gpu.withheld.empty()) object["withheld"] = gpu.withheld;
  const GpuNode::Notes& notes = *gpu.notes;
  if (!notes.reason.empty()) object["reason"] = notes.reason;
  if (!notes.no_turns.empty()) object["noTurns"] = notes.no_turns;
  if (notes.signals) object["signals"] = SignalsJson(*notes.signals);
  return object;
}

kube::Requests RequestedIn(const json& status) {
  const json& requested = At(status, "requested");
  kube::Requests requests{.others = kube::AmountsIn(At(requested, "others")).others};
  requests.milli_cpu = WholeAt(requested, "milliCPU", 0, kMost);
  requests.memory_bytes = WholeAt(requested, "memoryBytes", 0, kMost);
  const std::int64_t pods = WholeAt(requested, kPods, 0, kMost);
  if (pods > 0) requests.others[kPods] = pods;
  return requests;
}

json RequestedJson(const kube::Requests& requested) {
  json object = {
      {"milliCPU", requested.milli_cpu}, {"memoryBytes", requested.memory_bytes}, {kPods, std::int64_t{0}}};
  for (const auto& [resource, amount] : requested.others) {
    if (resource == kPods) {
      object[kPods] = amount;
    } else {
      object["others"][resource] = amount;
    }
  }
  return object;
}

json SharingJson(const GpuNode& node) {
  json sharing = {{"kind", node.sharing}, {"reason", node.sharing_reason}};
  if (node.sharing == "mps") sharing["multiUser"] = node.multi_user;
  if (node.mps_served) sharing["servedUser"] = *node.mps_served;
  return sharing;
}

json StatusJson(const GpuNode& node) {
  json status = {{"version", node.version},
                 {"mode", node.mode},
                 {"maintenance", node.maintenance},
                 {"gpus", json::array()},
                 {"requested", RequestedJson(node.requested)},
                 {"jobs", WriteJobs(node.jobs)}};
  if (!node.sharing.empty()) status["sharing"] = SharingJson(node);
  std::uint64_t healthy = 0, used = 0;
  for (const GpuNode::Gpu& gpu : node.gpus) {
    status["gpus"].push_back(GpuJson(gpu));
    healthy += gpu.healthy ? 1 : 0;
    used += UsedSlots(gpu.holders);
  }
  status["healthyGPUs"] = healthy;
  status["slots"] = SlotsOf(node);
  status["usedSlots"] = used;
  if (!node.mode_limited_by.empty()) status["modeLimitedBy"] = node.mode_limited_by;
  if (node.link_bytes_per_s > 0)
    status["linkBytesPerSecond"] = static_cast<std::uint64_t>(node.link_bytes_per_s);
  if (!node.configuration.empty()) status["configuration"] = node.configuration;
  return status;
}

}  // namespace

std::size_t UsedSlots(std::span<const GpuNode::Holder> holders) {
  std::set<std::string> ids;
  for (const GpuNode::Holder& holder : holders) ids.insert(holder.slots.begin(), holder.slots.end());
  return ids.size();
}

std::int64_t SlotsOf(const GpuNode& node) {
  std::int64_t slots = 0;
  for (const GpuNode::Gpu& gpu : node.gpus) slots += std::max(gpu.slots, 0);
  return slots;
}

json WriteGpuNode(const GpuNode& node) {
  json metadata = {{"name", node.name}};
  if (!node.node_uid.empty()) {  // the object is deleted with the node
    metadata["ownerReferences"] = {
        {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.name}, {"uid", node.node_uid}}};
  }
  return {{"apiVersion", CROSSOVER_DOMAIN "/v1alpha1"},
          {"kind", "GPUNode"},
          {"metadata", std::move(metadata)},
          {"status", StatusJson(node)}};
}

std::optional<GpuNode> ParseGpuNode(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& status = At(object, "status");
  GpuNode node;
  node.name = TextAt(metadata, "name");
  if (node.name.empty()) return std::nullopt;
  for (const json& owner : ListAt(metadata, "ownerReferences")) {
    if (TextAt(owner, "kind") == "Node") node.node_uid = TextAt(owner, "uid");
  }
  node.version = TextAt(status, "version");
  node.mode = TextAt(status, "mode");
  node.mode_limited_by = TextAt(status, "modeLimitedBy");
  node.configuration = TextAt(status, "configuration");
  node.maintenance = IsTrue(status, "maintenance");
  const json& sharing = At(status, "sharing");
  node.sharing = TextAt(sharing, "kind");
  node.sharing_reason = TextAt(sharing, "reason");
  node.multi_user = IsTrue(sharing, "multiUser");
  if (At(sharing, "servedUser").is_number_unsigned())
    node.mps_served = static_cast<std::uint32_t>(WholeAt(sharing, "servedUser", 0, UINT32_MAX));
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

}  // namespace crossover::api
