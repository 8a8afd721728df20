// Threads of the library inside somebody else's process: all signals blocked, small, detached.
#pragma once

namespace crossover::link {

// Runs body(argument) on a thread of its own. False where none can be had.
bool StartThread(void* (*body)(void*), void* argument);

}  // namespace crossover::link
