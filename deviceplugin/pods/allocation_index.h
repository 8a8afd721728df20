// Records which GPUs each pod has a slot of, as of the last read of the kubelet's file. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {

using SlotHolders = std::set<std::pair<std::string, std::string>>;  // pod UID and UUID of the GPU

inline SlotHolders HoldersOf(const std::vector<DeviceAllocation>& handed_out) {
  SlotHolders holders;
  for (const DeviceAllocation& entry : handed_out) {
    for (const std::string& id : entry.ids) holders.emplace(entry.pod_uid, UuidOfSlot(id));
  }
  return holders;
}

class AllocationIndex {
 public:
  void Set(SlotHolders holders) {
    const std::lock_guard lock(mutex_);
    holders_ = std::move(holders);
  }
  // Returns whether the pod has a slot of the GPU. Returns false until the file has been read once. The
  // client that asks retries soon.
  bool Holds(const std::string& pod_uid, const std::string& gpu_uuid) const {
    const std::lock_guard lock(mutex_);
    return holders_.contains({pod_uid, gpu_uuid});
  }

 private:
  mutable std::mutex mutex_;
  SlotHolders holders_;
};

}  // namespace crossover::deviceplugin
