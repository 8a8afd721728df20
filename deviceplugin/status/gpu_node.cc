#include "deviceplugin/status/gpu_node.h"

#include <nlohmann/json.hpp>

#include "common/kube/json.h"

namespace crossover::deviceplugin {

void SetHealth(const std::optional<base::WithheldReason>& withheld, bool memory_unknown, GpuNode::Gpu* gpu) {
  gpu->healthy = !withheld;
  gpu->withheld = base::TextOf(withheld);
  std::string& reason = gpu->notes.Edit().reason;
  reason = memory_unknown ? base::NameOf(base::Withheld::kMemoryUnknown) : "";
  if (withheld) reason = base::NameOf(withheld->reason);
}

GpuNode::Signals SignalsOf(const signals::Figures& figures) {
  return {.signallers = figures.signallers,
          .late = figures.again,
          .host_memory = figures.host.resident_bytes,
          .cpu_seconds = figures.host.cpu_seconds,
          .device_memory = figures.exported_bytes,
          .device_memory_source = signals::kExported};
}

std::string BodyOf(const GpuNode& node) { return kube::Dump(api::WriteGpuNode(node)); }

std::string UrgentPartOf(const GpuNode& node) {
  GpuNode urgent{
      .name = node.name, .mode = node.mode, .maintenance = node.maintenance, .sharing = node.sharing};
  for (const GpuNode::Gpu& gpu : node.gpus) {
    urgent.gpus.push_back({.uuid = gpu.uuid,
                           .slots = gpu.slots,
                           .healthy = gpu.healthy,
                           .withheld = "",
                           .holders = gpu.holders});
  }
  return BodyOf(urgent);
}

}  // namespace crossover::deviceplugin
