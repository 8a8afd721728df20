// Starts threads of the library inside the user's process. They block all signals, have stacks of 1 MiB and
// are detached.
#pragma once

namespace crossover::threads {

// Runs body(argument) on a new thread. Returns false if none can be started.
bool StartThread(void* (*body)(void*), void* argument);

// Names the calling thread for tools that look at the process from outside.
void NameThread();

}  // namespace crossover::threads
