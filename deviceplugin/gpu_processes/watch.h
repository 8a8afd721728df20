// Looks every two seconds at which processes use the GPUs. The first look comes as soon as the processes
// can be classified. Runs on a thread of its own. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/threads/periodic_task.h"
#include "deviceplugin/gpu_processes/process_classifier.h"
#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

class GpuProcessWatch {
 public:
  struct Sources {
    // Returns the UUIDs of the GPUs to look at.
    std::function<std::vector<std::string>()> gpu_uuids;
    // Returns what the classification needs, or nullopt while that is not known. Without it no process is
    // classified.
    std::function<std::optional<ProcessClassifier::Known>()> known;
    std::function<void(const ProcessClassifier::Verdicts&)> on_judged;  // called after each look
    std::string library;                                                // file name of our library
    std::string cgroup_root;                                            // the kubelet's (cgroup.h)
    std::string driver = NvmlLibrary::kName;
  };

  // Starts the thread. The functions in `sources` are called on it.
  explicit GpuProcessWatch(Sources sources);

  // Returns the result of the last look.
  ProcessClassifier::Verdicts verdicts() const;

 private:
  void Round();

  const Sources sources_;
  int since_look_ = 0;                 // in rounds
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver loaded
  std::vector<GpuProcess> found_;      // as of the last look
  ProcessClassifier judge_;
  mutable std::mutex mutex_;
  ProcessClassifier::Verdicts verdicts_;
  threads::PeriodicTask task_;  // must be the last member: its thread uses the others
};

}  // namespace crossover::deviceplugin
