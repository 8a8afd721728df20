// Reads what the processes of signallers cost on the host, as the kernel reports it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/signals/figures.h"

namespace crossover::signals {

struct ProcessUsage {
  std::uint64_t started = 0;  // in ticks since boot; differs between two processes that have the same ID
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;  // of all its threads, since it started
};

// Returns what `stat`, the text of /proc/PID/stat, says. Returns nothing if it is another text: the name in
// it may have any characters. REQUIRES: ticks_per_second > 0. Pure.
std::optional<ProcessUsage> ParseStat(std::string_view stat, std::uint64_t ticks_per_second,
                                      std::uint64_t page_bytes);

// Returns the usage of a process. Returns nothing if it has ended or cannot be seen. Reads 1 KiB at most.
std::optional<ProcessUsage> ReadUsage(std::int64_t pid);

// Adds up the usage of the signallers of each GPU. Thread-safe.
class HostUsage {
 public:
  using Read = std::function<std::optional<ProcessUsage>(std::int64_t pid)>;

  explicit HostUsage(Read read = ReadUsage) : read_(std::move(read)) {}

  // Reads the processes that `figures` names, and sets Figures::host. Forgets GPUs that are not named.
  void Fill(ByGpu* figures);

 private:
  struct Of {
    std::map<std::int64_t, ProcessUsage> processes;  // as last read, by process ID
    double ended_cpu_seconds = 0;
    bool read = false;  // a process has been read
  };

  void Look(const Figures& figures, Of* gpu);

  const Read read_;
  std::mutex mutex_;
  std::map<std::string, Of> gpus_;  // by UUID; guarded by mutex_
};

}  // namespace crossover::signals
