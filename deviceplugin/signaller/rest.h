// Lets go of a GPU, and waits until it may be used again.
//
// A driver keeps device files open until its process ends, and a GPU with open files can be neither reset nor
// given another driver. So a signaller that must rest replaces its program by itself.
#pragma once

#include <string>

#include "deviceplugin/signaller/options.h"

namespace crossover::signaller {

// Replaces this process's program by one that rests, with the same options. All descriptors above 2 are
// closed. Returns only if that fails, with the reason.
std::string BecomeResting(const Options& options);

// Stays connected to the arbiter, without the driver, until the arbiter lets this process use the GPU. One of
// an older version lets it by a turnstile to follow. Looks for an arbiter each second while there is none.
void AwaitGpu(const Options& options);

}  // namespace crossover::signaller
