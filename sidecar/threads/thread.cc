#include "sidecar/threads/thread.h"

#include <pthread.h>
#include <signal.h>

#include <cstddef>

#include "common/base/optional_libc.h"

namespace crossover::threads {
namespace {

// The stack holds the program's thread-local variables, which the C library puts there, and the driver's
// calls. Its size is address space only: the kernel gives memory to the pages that a call touches.
constexpr std::size_t kStackBytes = 1024 * 1024;

}  // namespace

bool StartThread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

void NameThread() { pthread_setname_np(pthread_self(), "crossover"); }

}  // namespace crossover::threads
