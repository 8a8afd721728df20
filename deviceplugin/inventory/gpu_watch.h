// Keeps the list of advertised GPUs in agreement with the driver: GPUs that appear, disappear, fail and
// recover. Runs on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/withheld.h"
#include "deviceplugin/inventory/allocated_slots.h"
#include "deviceplugin/inventory/health.h"
#include "deviceplugin/nvml/library.h"
#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {

class GpuWatch {
 public:
  // Holds the settings that may change while it runs.
  struct Live {
    std::uint32_t slots_per_gpu = 2;
    // A GPU is not given out for this long after its last error.
    std::chrono::seconds quiet{300};
    // This is the memory of each GPU whose driver does not tell the memory; 0: not known.
    std::uint64_t memory_bytes = 0;
    // Says whether the kubelet is told the NUMA nodes of GPUs.
    bool numa = true;
  };
  struct Settings {
    Live live{};
    // This is the time between two looks at the driver's list of GPUs.
    std::chrono::milliseconds look{10'000};
    std::string library = NvmlLibrary::kName;
    // Says why no GPU is given out until the first call of Withhold(). If it is not set, GPUs are given out
    // from the start.
    std::optional<base::WithheldReason> withheld;
  };

  // Fills `devices` from the driver before it returns. REQUIRES: `devices` outlives this object.
  GpuWatch(Settings settings, DeviceList* devices);
  ~GpuWatch();

  // Returns how often each Xid came, by GPU and Xid.
  Health::Xids xids() const;
  // Returns all GPUs that have ever answered, each as it answered last. Their memory is what the driver has
  // told, or what the settings say.
  std::vector<NvmlLibrary::Gpu> gpus() const;
  // Returns why GPUs are withheld, by UUID. GPUs that are given out are not in the map.
  std::map<std::string, base::WithheldReason> faults() const;
  // Returns the UUIDs of the GPUs that have one slot only because their memory is not known.
  std::set<std::string> of_unknown_memory() const;

  // Set(), Withhold() and Keep() may be called from any thread. The list is updated when they return.

  void Set(Live live);
  // Withholds GPUs for reasons other than their health. `gpus` has the reason for each withheld GPU, by
  // UUID. `all` is a reason to withhold every GPU, if there is one. Each call replaces the reasons of the
  // previous one.
  void Withhold(std::map<std::string, base::WithheldReason> gpus, std::optional<base::WithheldReason> all);
  // Sets the slots that pods hold. A GPU never gets more pods than it has slots now, whatever slot numbers
  // the pods hold. While pods hold more slots than the GPU has, because it had more before, the GPU is
  // withheld.
  void Keep(AllocatedSlots held);

 private:
  void Run();
  void Look();
  void WatchErrorsOf(const std::vector<Health::Answer>& answers);
  void AwaitXids();
  void Publish();  // REQUIRES: mutex_ is held
  // REQUIRES: mutex_ is held
  void NoteMemory(const std::vector<NvmlLibrary::Gpu>& gpus);
  // REQUIRES: mutex_ is held
  std::vector<NvmlLibrary::Gpu> WithMemory() const;
  // REQUIRES: mutex_ is held
  std::optional<base::WithheldReason> FaultOf(const std::string& uuid, AdvertisedGpu* gpu) const;
  bool Stopping();

  const Settings settings_;
  DeviceList* devices_;
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver loaded
  bool afresh_ = false;                // the next look loads the library again
  std::string complaint_;
  std::set<std::string> watched_;  // UUIDs of the GPUs that are watched for errors
  // Guards the members below, up to `stop_`.
  mutable std::mutex mutex_;
  Live live_;
  std::vector<NvmlLibrary::Gpu> known_;  // GPUs that ever answered, each with its last answer
  Health health_;
  std::map<std::string, base::WithheldReason> withheld_;
  std::optional<base::WithheldReason> all_withheld_;
  AllocatedSlots held_;
  std::map<std::string, base::WithheldReason> faults_;  // as last published
  std::set<std::string> of_unknown_memory_;             // as last published
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // must be the last member: the thread uses the others
};

}  // namespace crossover::deviceplugin
