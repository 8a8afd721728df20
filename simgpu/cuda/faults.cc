#include "simgpu/cuda/faults.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace simgpu {
namespace {

bool ReadCount(const std::string& text, long* count) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 9)
    return false;
  *count = std::stol(text);
  return true;
}

}  // namespace

bool ParseFaults(const std::string& text, FaultSet* faults, std::string* error) {
  std::istringstream list(text);
  std::string item;
  while (std::getline(list, item, ',')) {
    if (item.empty()) continue;
    const std::size_t colon = item.find(':');
    const std::string name = item.substr(0, colon);
    const std::string count = colon == std::string::npos ? "" : item.substr(colon + 1);
    bool good = true;
    if (item == "memops_unsupported") {
      faults->memops_unsupported = true;
    } else if (item == "host_register_fails") {
      faults->host_register_fails = true;
    } else if (item == "cancellation_points") {
      faults->cancellation_points = true;
    } else if (item == "stuck_stream") {
      faults->stuck_after = 0;
    } else if (item == "crash_after_exit") {
      faults->unload_us = 0;
    } else if (name == "crash_after_exit") {
      good = ReadCount(count, &faults->unload_us);
    } else if (name == "exit_at_launch") {
      good = ReadCount(count, &faults->exit_at_launch);
    } else if (name == "early_waits_us") {
      good = ReadCount(count, &faults->early_waits_us);
    } else if (name == "stuck_stream") {
      good = ReadCount(count, &faults->stuck_after);
    } else if (name == "delayed_writes_us") {
      good = ReadCount(count, &faults->delayed_writes_us);
    } else if (name == "memops_fail") {
      good = ReadCount(count, &faults->memops_fail_after);
    } else if (name == "memops_break") {
      good = ReadCount(count, &faults->broken_memop);
    } else if (name == "queues") {
      good = ReadCount(count, &faults->queues) && faults->queues > 0;
    } else if (name == "launch_fails") {
      good = ReadCount(count, &faults->launch_fails_after);
    } else if (name == "drop_wait") {
      good = ReadCount(count, &faults->dropped_wait);
    } else {
      good = false;
    }
    if (good) continue;
    *error =
        "'" + item +
        "' is none of memops_unsupported, memops_fail:N, memops_break:N, host_register_fails, "
        "delayed_writes_us:N, early_waits_us:N, stuck_stream[:N], queues:N, launch_fails:N, drop_wait:N, "
        "exit_at_launch:N, crash_after_exit[:N], cancellation_points";
    return false;
  }
  return true;
}

const FaultSet& Faults() {
  static const FaultSet* faults = [] {
    auto* result = new FaultSet;
    std::string error;
    const char* text = std::getenv("SIMGPU_FAULT");
    if (text != nullptr && !ParseFaults(text, result, &error)) {
      std::fprintf(stderr, "simgpu: SIMGPU_FAULT: %s; no fault is injected\n", error.c_str());
      *result = FaultSet{};
    }
    return result;
  }();
  return *faults;
}

}  // namespace simgpu
