#include "deviceplugin/inventory/allocated_slots.h"

#include "deviceplugin/plugin/device_id.h"

namespace crossover::deviceplugin {

AllocatedSlots FindAllocatedSlots(const std::vector<Pod>& pods,
                                  const std::vector<DeviceAllocation>& handed_out) {
  AllocatedSlots held;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr) continue;
    for (const std::string& text : entry.ids) {
      if (const auto id = ParseDeviceId(text)) held[id->gpu].insert(id->slot);
    }
  }
  return held;
}

}  // namespace crossover::deviceplugin
