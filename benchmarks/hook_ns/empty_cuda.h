// A driver of which nothing is expected but to be called: a launch does nothing, and what is queued on a
// stream is done at once.
#pragma once

#include <cuda.h>

// What this driver's launches do, past any hook. Of the kinds of launches: with arguments, with a
// configuration, of a graph.
extern "C" {
decltype(&cuLaunchKernel) EmptyDirectLaunch();
decltype(&cuLaunchKernelEx) EmptyDirectLaunchEx();
decltype(&cuGraphLaunch) EmptyDirectGraphLaunch();
}
