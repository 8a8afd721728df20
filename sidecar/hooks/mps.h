// Finds out whether the process shares its GPU through MPS.
#pragma once

#include <cuda.h>

#include "sidecar/gates/driver.h"

namespace crossover::hooks {

// Returns whether kernels of several processes run on the GPU side by side (MPS), and so one job's collective
// beside another's compute (docs/design/0004-time-slices.md). Drivers before CUDA 12.4 do not tell. Their
// processes are clients of MPS if its control daemon answered at cuInit, so for these drivers this tries to
// connect to it.
bool RunsProcessesTogether(const gates::Driver& driver, CUdevice gpu);

}  // namespace crossover::hooks
