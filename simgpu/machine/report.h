// Collects how late this process was, and what it cost. Each library that was used writes a report to
// $SIMGPU_REPORT/<node>-<pid>-<random>.json at exit. If the variable is unset, nothing is kept.
// Thread-safe, and cheap enough for every kernel.
#pragma once

#include <cstdint>

#include "simgpu/model/fluid.h"

namespace simgpu {

enum class Late { kKernel, kRingStep };

// Reports an event of the logical time `due` that was noticed at `noticed` (both CLOCK_MONOTONIC).
// Flow::WaitServed() reports a kernel by itself when it had to wait. The code that waits for a ring step
// reports it.
void ReportLateness(Late kind, Nanos due, Nanos noticed);

// Counts one kernel.
void ReportKernel();

// A Reach says where the other end of a connection between ranks is.
enum class Reach { kSameNode, kOtherNode };

// Counts bytes that a rank has received from another rank. They count in full if their data is left out.
void ReportReceived(Reach from, std::uint64_t bytes);

// Writes the file now. Runs at exit by itself; a process that is killed writes none.
void WriteReport();

}  // namespace simgpu
