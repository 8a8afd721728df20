#include "simgpu/cuda/faults.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "common/base/refusal.h"
#include "simgpu/machine/config.h"

namespace simgpu {
namespace {

constexpr long kMost = 999'999'999;

// A PlainFault is its name alone.
struct PlainFault {
  const char* name;
  bool FaultSet::*field;
};
constexpr PlainFault kPlain[] = {{"memops_unsupported", &FaultSet::memops_unsupported},
                                 {"host_register_fails", &FaultSet::host_register_fails},
                                 {"no_memory", &FaultSet::no_memory},
                                 {"cancellation_points", &FaultSet::cancellation_points}};

// A CountedFault has a whole number from `low` to `high` behind its name and a colon. If `bare`, the name may
// stand alone, which is the number 0.
struct CountedFault {
  const char* name;
  long FaultSet::*field;
  long low = 0;
  long high = kMost;
  bool bare = false;
};
constexpr CountedFault kCounted[] = {{"memops_fail", &FaultSet::memops_fail_after},
                                     {"memops_break", &FaultSet::broken_memop},
                                     {"import_fails", &FaultSet::import_fails_after, 0, kMost, true},
                                     {"copies_break", &FaultSet::broken_copy},
                                     {"delayed_writes_us", &FaultSet::delayed_writes_us},
                                     {"early_waits_us", &FaultSet::early_waits_us},
                                     {"stuck_stream", &FaultSet::stuck_after, 0, kMost, true},
                                     {"queues", &FaultSet::queues, 1, kMaxChannels},
                                     {"launch_fails", &FaultSet::launch_fails_after},
                                     {"drop_wait", &FaultSet::dropped_wait},
                                     {"drop_waits", &FaultSet::first_dropped_wait},
                                     {"exit_at_launch", &FaultSet::exit_at_launch},
                                     {"crash_after_exit", &FaultSet::unload_us, 0, kMost, true}};

bool ReadCount(const std::string& text, long* count) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 9)
    return false;
  *count = std::stol(text);
  return true;
}

// Sets the fault that `item` names. Returns false if it names none.
bool Set(const std::string& item, FaultSet* faults) {
  for (const PlainFault& fault : kPlain) {
    if (item == fault.name) return faults->*fault.field = true;
  }
  const std::size_t colon = item.find(':');
  for (const CountedFault& fault : kCounted) {
    if (item.substr(0, colon) != fault.name) continue;
    long count = 0;
    const bool good = colon == std::string::npos ? fault.bare : ReadCount(item.substr(colon + 1), &count);
    if (!good || count < fault.low || count > fault.high) return false;
    faults->*fault.field = count;
    return true;
  }
  return false;
}

}  // namespace

bool ParseFaults(const std::string& text, FaultSet* faults, std::string* error) {
  std::istringstream list(text);
  std::string item;
  while (std::getline(list, item, ',')) {
    if (item.empty() || Set(item, faults)) continue;
    *error = crossover::base::Refusal(
        "SIMGPU_FAULT",
        "memops_unsupported, memops_fail:N, memops_break:N, host_register_fails, import_fails[:N], "
        "no_memory, "
        "copies_break:N, "
        "delayed_writes_us:N, early_waits_us:N, stuck_stream[:N], queues:N (1 to 32), launch_fails:N, "
        "drop_wait:N, drop_waits:N, "
        "exit_at_launch:N, crash_after_exit[:N] or cancellation_points",
        item);
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
      std::fprintf(stderr, "simgpu: %s; no fault is injected\n", error.c_str());
      *result = FaultSet{};
    }
    return result;
  }();
  return *faults;
}

}  // namespace simgpu
