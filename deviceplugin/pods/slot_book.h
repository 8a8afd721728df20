// Which GPUs each pod has a slot of, as the kubelet's file was last read. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace crossover::deviceplugin {

class SlotBook {
 public:
  using Holders = std::set<std::pair<std::string, std::string>>;  // pod UID and GPU

  void Set(Holders holders) {
    const std::lock_guard lock(mutex_);
    holders_ = std::move(holders);
  }
  // True of all while the file has never been read.
  bool Holds(const std::string& pod_uid, const std::string& gpu_uuid) const {
    const std::lock_guard lock(mutex_);
    return !holders_ || holders_->contains({pod_uid, gpu_uuid});
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Holders> holders_;
};

}  // namespace crossover::deviceplugin
