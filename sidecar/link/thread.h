// Threads of the library inside somebody else's process: all signals blocked, small, detached.
#pragma once

namespace crossover::link {

// Runs body(argument) on a thread of its own. False where none can be had.
bool StartThread(void* (*body)(void*), void* argument);

// Names the calling thread, for whoever looks at the process from outside.
void NameThread();

}  // namespace crossover::link
