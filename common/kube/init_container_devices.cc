#include "common/kube/init_container_devices.h"

namespace crossover::kube {

std::string HandOut(std::span<const DeviceAsk> containers,
                    const std::function<void(std::size_t index, int fresh)>& give) {
  const DeviceAsk* left_by = nullptr;  // the init container whose devices all wait for the next container
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const DeviceAsk& one = containers[i];
    if (one.devices <= 0) continue;
    const int left_over = left_by == nullptr ? 0 : left_by->devices;
    if (one.devices < left_over) {
      return "container " + one.name + " asks for " + std::to_string(one.devices) +
             " GPUs, and init container " + left_by->name + " before it for " + std::to_string(left_over) +
             ": which of those it would get is left to chance; expected at least " +
             std::to_string(left_over) + ", or none for the init container, got " +
             std::to_string(one.devices);
    }
    if (give) give(i, one.devices - left_over);
    left_by = one.hands_on ? &one : nullptr;
  }
  if (left_by == nullptr) return "";
  return "init container " + left_by->name + " asks for " + std::to_string(left_by->devices) +
         " GPUs, and no container after it for any: expected at least as many for a container after it, or "
         "none for the init container, got neither";
}

}  // namespace crossover::kube
