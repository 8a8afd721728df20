// Makes the copies of a process that is no client of MPS wait for a time slice, if the machine says so
// (outside_copy_us): while clients of MPS have kernels on the GPU, such a copy begins so much later.
#pragma once

#include "simgpu/cuda/work.h"

namespace simgpu {

// Returns work that waits for a time slice and then does `copy`, or `copy` itself if there is nothing to wait
// for: in time slices, for a client of MPS, and with outside_copy_us at 0.
WorkPtr InASlice(WorkPtr copy);

}  // namespace simgpu
