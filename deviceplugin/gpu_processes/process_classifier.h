// Classifies the processes that use the GPUs. The daemon gives out no GPU that a process without a slot of it
// uses (a *stranger*). It keeps turns off a GPU that a process uses which has a slot but is no client of the
// arbiter (an *unhooked* process).
//
// Pure: the caller passes the time, in ns of any clock. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/gpu_processes/gpu_process.h"

namespace crossover::deviceplugin {

class ProcessClassifier {
 public:
  using Time = std::int64_t;
  // A process without a slot counts as a stranger after this time, in ns. A process that only queries the
  // GPU ends earlier.
  static constexpr Time kStranger = 5'000'000'000;
  // A process with a slot counts as unhooked after this time, in ns. Within it, a job that has opened its
  // GPU creates its NCCL communicators and registers with the arbiter.
  static constexpr Time kUnregistered = 30'000'000'000;

  struct Known {
    std::set<std::pair<std::string, std::string>> holders;   // pod UID and GPU, for slots given out
    std::set<std::pair<std::int64_t, std::string>> clients;  // process ID and GPU of registered clients
    std::set<pid_t> mps_servers;     // process IDs; a server has one context for all of its clients
    std::set<std::string> own_pods;  // UIDs of the installation's own pods: the signallers are there
  };
  struct Verdicts {
    // Holds, by UUID of the GPU, one process that uses the GPU without a slot of it.
    std::map<std::string, GpuProcess> strangers;
    std::vector<GpuProcess> unhooked;      // processes with a slot that do not take part
    std::vector<GpuProcess> unregistered;  // all processes that are not registered, or not yet
  };

  // Returns the reason to withhold the GPU of a stranger. The text has no process ID or name, so it stays
  // the same if only these change.
  static std::string Describe(const GpuProcess& stranger);

  // Classifies the processes of one look. A process that is not in `gpu_processes` has left its GPU. On the
  // first look, a process without a slot is a stranger at once, because it may have been there for long.
  Verdicts Judge(const std::vector<GpuProcess>& gpu_processes, const Known& known, Time now);

 private:
  bool first_ = true;
  // Holds, for each process and GPU, the time of the first look that found the process there.
  std::map<std::pair<pid_t, std::string>, Time> since_;
};

}  // namespace crossover::deviceplugin
