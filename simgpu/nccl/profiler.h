// The user's profiler plugin, as NCCL 2.27 knows it: a library named by NCCL_PROFILER_PLUGIN (a path, or NAME
// for libnccl-profiler-NAME.so; libnccl-profiler.so where it is not set, none for "none") that exports
// ncclProfiler_v4.
//
// Events are those of groups, collectives and transfers. As in NCCL they begin when the kernel has been
// launched and end when its work is queued, on the thread that launches. Thread-safe but for one
// communicator's calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "simgpu/nccl/comm.h"

namespace simgpu::nccl {

struct Plugin;

// One communicator's profiler.
class Profiler {
 public:
  // Null where the user has no plugin. `id` is the same on all ranks; `nodes` is how many they run on.
  static std::unique_ptr<Profiler> Open(std::uint64_t id, int nodes, int ranks, int rank);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // One kernel was launched for these calls.
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
