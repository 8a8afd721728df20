// Defines a CUDA driver that can be called but does nothing: a launch has no effect, and work on a stream
// is complete at once.
#pragma once

#include <cuda.h>

// Return the driver's launch functions themselves, without any hook. There is one for each kind of launch:
// with arguments, with a configuration, and of a graph.
extern "C" {
decltype(&cuLaunchKernel) EmptyDirectLaunch();
decltype(&cuLaunchKernelEx) EmptyDirectLaunchEx();
decltype(&cuGraphLaunch) EmptyDirectGraphLaunch();
}
