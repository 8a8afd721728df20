// Calls the user's profiler plugin as NCCL 2.27 does. The plugin is a library that exports ncclProfiler_v4.
// NCCL_PROFILER_PLUGIN names it: a path, or NAME for libnccl-profiler-NAME.so. The default is
// libnccl-profiler.so; "none" means no plugin.
//
// There are events for groups, collectives and transfers. As in NCCL, they begin after the kernel was
// launched and end when its work is queued, on the thread that launches. Thread-safe, except for the calls
// of one communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "simgpu/nccl/comm.h"

namespace simgpu::nccl {

struct Plugin;

// A Profiler reports the calls of one communicator.
class Profiler {
 public:
  // Returns null if the user has no plugin. `id` is the same on all ranks; `nodes` is the number of nodes
  // that they run on.
  static std::unique_ptr<Profiler> Open(std::uint64_t id, int nodes, int ranks, int rank);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Reports that one kernel was launched for these calls.
  void Launched(std::span<const PendingCall> calls, int ctas);

 private:
  Profiler() = default;
  void Report(const PendingCall& pending, int ctas, void* group);

  const Plugin* plugin_ = nullptr;
  void* context_ = nullptr;
  int events_ = 0;
  int rank_ = 0;
  std::uint64_t called_[kFunctions] = {};
};

}  // namespace simgpu::nccl
