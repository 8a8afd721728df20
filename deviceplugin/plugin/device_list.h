// The slots of this node and their health, as they are advertised. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"

namespace crossover::deviceplugin {

// One GPU as it is advertised: `slots` IDs, all healthy or none.
struct AdvertisedGpu {
  AllocatableGpu gpu;
  std::uint32_t slots = 0;  // 0: withheld
  bool healthy = true;

  friend bool operator==(const AdvertisedGpu&, const AdvertisedGpu&) = default;
};

class DeviceList {
 public:
  using Gpus = std::map<std::string, AdvertisedGpu>;  // by UUID

  void Set(Gpus gpus);
  Gpus gpus() const;
  // Changes with every Set that changes something.
  std::uint64_t version() const;

  // Waits until the version is another than `seen`, or Interrupt() is called, for at most `patience`.
  std::uint64_t AwaitChange(std::uint64_t seen, std::chrono::milliseconds patience);
  // Wakes all who wait.
  void Interrupt();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Gpus gpus_;
  std::uint64_t version_ = 1;
  std::uint64_t interrupts_ = 0;
};

}  // namespace crossover::deviceplugin
