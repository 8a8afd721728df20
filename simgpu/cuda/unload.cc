#include "simgpu/cuda/unload.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "simgpu/cuda/faults.h"
#include "simgpu/machine/os.h"

namespace simgpu {
namespace {

pthread_t exiting;  // valid once `unloaded` is true

void Unload() {
  exiting = pthread_self();
  unloaded.store(true, std::memory_order_release);
  SleepUntil(MonotonicNow() + Faults().unload_us * kMicrosecond);
}

}  // namespace

void RegisterUnload() {
  if (Faults().unload_us >= 0) std::atexit(Unload);
}

void CrashUnlessExiting() {
  if (pthread_equal(pthread_self(), exiting)) return;
  std::raise(SIGSEGV);
  _exit(128 + SIGSEGV);  // the program handles or blocks the signal; a fault of memory still ends it
}

}  // namespace simgpu
