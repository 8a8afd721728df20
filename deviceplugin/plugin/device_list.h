// The slots of this node and their health, as they are advertised. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"

namespace crossover::deviceplugin {

// One GPU as it is advertised: all its IDs are healthy, or none.
struct AdvertisedGpu {
  AllocatableGpu gpu;
  std::uint32_t slots = 0;  // 0: withheld
  bool healthy = true;
  // Numbers of slots that pods have, where some are beyond `slots`, which was larger when they came.
  std::set<std::uint32_t> held = {};

  friend bool operator==(const AdvertisedGpu&, const AdvertisedGpu&) = default;
};

// The numbers that are advertised: those that are held, and the first of the others, `slots` in all; all that
// are held, where these are more.
std::set<std::uint32_t> NumbersOf(const AdvertisedGpu& gpu);

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
