// Keeps the advertised slots of this node and their health. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"

namespace crossover::deviceplugin {

// Describes a GPU as it is advertised. Either all its IDs are healthy or none is.
struct AdvertisedGpu {
  AllocatableGpu gpu;
  std::uint32_t slots = 0;  // how many slots are advertised
  bool healthy = true;
  // Holds the slot numbers that pods have. It is set only if some of them are not below `slots`, which was
  // larger when those pods came.
  std::set<std::uint32_t> held = {};
  // This is the NUMA node that the kubelet is told. Its topology manager aligns processors with it, if it has
  // a policy. Unset: none.
  std::optional<int> numa = {};

  friend bool operator==(const AdvertisedGpu&, const AdvertisedGpu&) = default;
};

// Returns the slot numbers to advertise: the held ones, and the lowest others, `slots` in total. If more
// than `slots` are held, returns all held ones.
std::set<std::uint32_t> NumbersOf(const AdvertisedGpu& gpu);

class DeviceList {
 public:
  using Gpus = std::map<std::string, AdvertisedGpu>;  // by UUID

  // Replaces the list, and wakes threads that wait for a change if it differs.
  void Set(Gpus gpus);
  Gpus gpus() const;
  // Returns a number that increases with every Set() that changes the list.
  std::uint64_t version() const;

  // Blocks until the version differs from `seen`, Interrupt() is called, or `patience` is over. Returns the
  // version at that time.
  std::uint64_t AwaitChange(std::uint64_t seen, std::chrono::milliseconds patience);
  // Wakes all threads that wait in AwaitChange().
  void Interrupt();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Gpus gpus_;
  std::uint64_t version_ = 1;
  std::uint64_t interrupts_ = 0;
};

}  // namespace crossover::deviceplugin
