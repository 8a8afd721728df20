#include "deviceplugin/status/gpu_node.h"

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/text/number.h"
#include "deviceplugin/status/jobs_json.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

json HoldersOf(const GpuNode::Gpu& gpu) {
  json holders = json::array();
  for (const GpuNode::Holder& holder : gpu.holders) {
    holders.push_back({{"namespace", holder.name_space},
                       {"pod", holder.pod},
                       {"container", holder.container},
                       {"gang", holder.gang},
                       {"slots", holder.slots}});
  }
  return holders;
}

// Rounds, so that the object does not change all the time where nothing happens: memory to a MiB, and seconds
// to two significant figures.
json SignalsOf(const signals::Figures& figures) {
  constexpr std::uint64_t kMiB = 1 << 20;
  json object = {{"signallers", figures.signallers}, {"late", figures.again}};
  if (figures.host.resident_bytes)
    object["hostMemoryBytes"] = (*figures.host.resident_bytes + kMiB / 2) / kMiB * kMiB;
  if (figures.host.cpu_seconds) object["cpuSeconds"] = text::ToFigures(*figures.host.cpu_seconds, 2);
  if (figures.exported_bytes != 0) {
    object["deviceMemoryBytes"] = figures.exported_bytes;
    object["deviceMemorySource"] = signals::kExported;
  }
  return object;
}

json GpuOf(const GpuNode::Gpu& gpu) {
  json object = {{"uuid", gpu.uuid},   {"model", gpu.model},       {"memoryBytes", gpu.memory_bytes},
                 {"slots", gpu.slots}, {"healthy", !gpu.withheld}, {"holders", HoldersOf(gpu)}};
  if (gpu.memory_unknown) object["reason"] = base::NameOf(base::Withheld::kMemoryUnknown);
  if (gpu.withheld) {
    object["withheld"] = gpu.withheld->text;
    object["reason"] = base::NameOf(gpu.withheld->reason);
  }
  if (!gpu.no_turns.empty()) object["noTurns"] = gpu.no_turns;
  if (gpu.signals) object["signals"] = SignalsOf(*gpu.signals);
  return object;
}

json RequestedOf(const GpuNode::Requested& requested) {
  json object = {{"milliCPU", requested.requests.milli_cpu},
                 {"memoryBytes", requested.requests.memory_bytes},
                 {"pods", requested.pods}};
  if (!requested.requests.others.empty()) object["others"] = requested.requests.others;
  return object;
}

}  // namespace

std::size_t UsedSlots(const std::vector<GpuNode::Holder>& holders) {
  std::set<std::string> ids;
  for (const GpuNode::Holder& holder : holders) ids.insert(holder.slots.begin(), holder.slots.end());
  return ids.size();
}

std::string BodyOf(const GpuNode& node) {
  json status = {{"version", node.version},
                 {"mode", node.mode},
                 {"maintenance", node.maintenance},
                 {"gpus", json::array()},
                 {"requested", RequestedOf(node.requested)},
                 {"jobs", JobsJson(node.jobs)}};
  if (!node.sharing.empty()) {
    status["sharing"] = {{"kind", node.sharing}, {"reason", node.sharing_reason}};
    if (node.sharing == "mps") status["sharing"]["multiUser"] = node.mps_multi_user;
    if (node.mps_served) status["sharing"]["servedUser"] = *node.mps_served;
  }
  std::uint64_t healthy = 0, slots = 0, used = 0;
  for (const GpuNode::Gpu& gpu : node.gpus) {
    status["gpus"].push_back(GpuOf(gpu));
    healthy += gpu.withheld ? 0 : 1;
    slots += gpu.slots;
    used += UsedSlots(gpu.holders);
  }
  status["healthyGPUs"] = healthy;
  status["slots"] = slots;
  status["usedSlots"] = used;
  if (!node.mode_limited_by.empty()) status["modeLimitedBy"] = node.mode_limited_by;
  if (node.link_bytes_per_s > 0) status["linkBytesPerSecond"] = node.link_bytes_per_s;
  if (!node.configuration.empty()) status["configuration"] = node.configuration;
  json metadata = {{"name", node.name}};
  if (!node.node_uid.empty()) {  // the object is deleted with the node
    metadata["ownerReferences"] = {
        {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.name}, {"uid", node.node_uid}}};
  }
  return kube::Dump({{"apiVersion", CROSSOVER_DOMAIN "/v1alpha1"},
                     {"kind", "GPUNode"},
                     {"metadata", metadata},
                     {"status", status}});
}

std::string UrgentPartOf(const GpuNode& node) {
  json part = {{"mode", node.mode}, {"maintenance", node.maintenance}, {"sharing", node.sharing}};
  for (const GpuNode::Gpu& gpu : node.gpus)
    part["gpus"].push_back({gpu.uuid, gpu.slots, !gpu.withheld, HoldersOf(gpu)});
  return kube::Dump(part);
}

}  // namespace crossover::deviceplugin
