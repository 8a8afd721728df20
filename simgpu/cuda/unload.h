// Plays the end of the driver in a process that exits, if the fault crash_after_exit asks for it. A real
// driver frees its state in its exit handler. A thread that calls it meanwhile or later uses freed memory.
#pragma once

#include <atomic>

namespace simgpu {

// True from the beginning of the driver's exit handler on. It stays false without the fault.
inline std::atomic<bool> unloaded{false};

// Registers the driver's exit handler if the fault asks for one. Call it once, from cuInit.
void RegisterUnload();

// Ends the process by SIGSEGV, unless the calling thread is the one that runs exit handlers.
// REQUIRES: unloaded.
void CrashUnlessExiting();

// Stands at the beginning of each call that uses the state of the driver. Returns true if the driver is
// unloaded and the calling thread runs exit handlers.
inline bool RefuseAfterUnload() {
  if (!unloaded.load(std::memory_order_acquire)) return false;
  CrashUnlessExiting();
  return true;
}

}  // namespace simgpu
