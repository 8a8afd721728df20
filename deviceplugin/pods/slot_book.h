// Which GPUs each pod has a slot of, as the kubelet's file was last read. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {

using SlotHolders = std::set<std::pair<std::string, std::string>>;  // pod UID and GPU

inline SlotHolders HoldersOf(const std::vector<HandedOut>& handed_out) {
  SlotHolders holders;
  for (const HandedOut& entry : handed_out) {
    for (const std::string& id : entry.ids) holders.emplace(entry.pod_uid, UuidOfSlot(id));
  }
  return holders;
}

class SlotBook {
 public:
  void Set(SlotHolders holders) {
    const std::lock_guard lock(mutex_);
    holders_ = std::move(holders);
  }
  // Of nobody while the file has never been read: whoever asks again is told soon.
  bool Holds(const std::string& pod_uid, const std::string& gpu_uuid) const {
    const std::lock_guard lock(mutex_);
    return holders_.contains({pod_uid, gpu_uuid});
  }

 private:
  mutable std::mutex mutex_;
  SlotHolders holders_;
};

}  // namespace crossover::deviceplugin
