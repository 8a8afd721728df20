// A driver of which nothing is expected but to be called.
#pragma once

#include <cuda.h>

// Address of a function that does what this driver's cuLaunchKernel does, past any hook.
extern "C" decltype(&cuLaunchKernel) EmptyDirectLaunch();
