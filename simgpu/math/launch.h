// Launches the kernels of the stand-in libraries. They compute nothing: each holds the SMs of its cost for
// its time.
#pragma once

#include <cuda.h>

#include "simgpu/math/cost.h"

namespace simgpu::math {

// The kernels, by the names under which the driver and its reports know them.
enum class KernelName { kGemm, kConv, kNorm, kBlas };

// Makes sure that the calling thread has a current context: without one it gets the primary context of device
// 0, as NVIDIA's libraries give it through their runtime. Returns false if there is no driver or no GPU.
bool UseContext();

// Returns the number of SMs of the calling thread's device, or 1 if that is unknown. Gives a thread without a
// context one, as UseContext() does.
int SmsHere();

// Queues one kernel of this cost on `stream`, which null makes the legacy default stream of the current
// context. Returns false if the driver refuses it. Thread-safe.
bool Launch(KernelName name, const Cost& cost, CUstream stream);

}  // namespace simgpu::math
