// Reports to StatsStore once a second how much memory each client has on its GPU, and which clients had too
// small a memory budget. Also keeps the usage of each GPU. Runs on a thread of its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/threads/periodic_task.h"
#include "deviceplugin/nvml/library.h"
#include "deviceplugin/stats/stats_store.h"

namespace crossover::deviceplugin {

// Reports once to `stats_store` how much memory each client has on its GPU, and which clients had too small a
// memory budget. Asks the driver once for each GPU that has clients. Skips the memory of clients whose
// process ID is not known.
void LookAtMemory(const NvmlLibrary& nvml, StatsStore* stats_store);

class MemoryWatch {
 public:
  // `library` is the file name of NVML. The library need not exist yet, and is loaded again if the driver
  // is reloaded. REQUIRES: `stats_store` outlives this object.
  MemoryWatch(std::string library, StatsStore* stats_store);

  // Returns the usage of each GPU, by UUID, as of the last look. May be called from any thread.
  std::map<std::string, NvmlLibrary::Usage> usages() const;

 private:
  void Look(StatsStore* stats_store);

  const std::string library_;
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver loaded
  bool complained_ = false;
  bool answered_ = false;  // a GPU has answered since the library was loaded
  mutable std::mutex mutex_;
  std::map<std::string, NvmlLibrary::Usage> usages_;
  threads::PeriodicTask task_;  // must be the last member: its thread uses the others
};

}  // namespace crossover::deviceplugin
