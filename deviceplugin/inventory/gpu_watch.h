// Keeps the list of GPUs that are advertised as the driver has them: those that come, go, err and recover. On
// a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "deviceplugin/inventory/health.h"
#include "deviceplugin/inventory/held_slots.h"
#include "deviceplugin/nvml/library.h"
#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {

class GpuWatch {
 public:
  struct Settings {
    std::uint32_t slots_per_gpu = 2;
    std::chrono::seconds quiet{300};  // after an error of a GPU, before it is given out again
    std::chrono::milliseconds look{10'000};
    std::string library = NvmlLibrary::kName;
    std::string withheld;  // why nothing is given out until Withhold() is called; empty: it is
  };

  // The list is as the driver has it when this returns. `devices` outlives it.
  GpuWatch(Settings settings, DeviceList* devices);
  ~GpuWatch();

  Health::Xids xids() const;
  // Those that have ever answered, as they did last.
  std::vector<NvmlLibrary::Gpu> gpus() const;
  // Why GPUs are withheld, by UUID.
  std::map<std::string, std::string> faults() const;

  // All of these from any thread; the list is changed when they return.
  void Set(std::uint32_t slots_per_gpu, std::chrono::seconds quiet);
  // GPUs that are not to be given out for other reasons than their health, by UUID. `all`: why none is; empty
  // where they are.
  void Withhold(std::map<std::string, std::string> gpus, std::string all);
  // Slots that pods have. A GPU gets no more pods than it has slots now, whatever the numbers of theirs;
  // while more are held, as of a time when there were more, it is withheld.
  void Keep(HeldSlots held);

 private:
  void Run();
  void Look();
  void WatchErrorsOf(const std::vector<Health::Answer>& answers);
  void AwaitXids();
  void Publish();                                                          // with the lock
  std::string FaultOf(const std::string& uuid, AdvertisedGpu* gpu) const;  // likewise
  bool Stopping();

  const Settings settings_;
  DeviceList* devices_;
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver yet
  bool afresh_ = false;                // it is to be loaded anew
  std::string complaint_;
  std::set<std::string> watched_;  // for errors
  mutable std::mutex mutex_;       // over what follows
  std::uint32_t slots_per_gpu_;
  std::vector<NvmlLibrary::Gpu> known_;  // GPUs that have ever answered, as they did last
  Health health_;
  std::map<std::string, std::string> withheld_;
  std::string all_withheld_;
  HeldSlots held_;
  std::map<std::string, std::string> faults_;  // as they were published
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
