// How late this process was, and what it cost. Written to $SIMGPU_REPORT/<node>-<pid>-<random>.json at exit
// by each library that was used; nothing is kept when the variable is unset. Thread-safe, cheap enough for
// every kernel.
#pragma once

#include "simgpu/model/fluid.h"

namespace simgpu {

enum class Late { kKernel, kRingStep };

// Something that should have been noticed at the logical time `due` was noticed at `noticed` (both
// CLOCK_MONOTONIC). A kernel's sample is taken by Flow::WaitServed itself when it had to wait; a ring step's
// by whoever waited for it.
void ReportLateness(Late kind, Nanos due, Nanos noticed);

void ReportKernel();

// Writes the file now. Called at exit by itself; a process that is killed writes none.
void WriteReport();

}  // namespace simgpu
