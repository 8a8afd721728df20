#include "benchmarks/hook_ns/counted.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstdlib>

// These are glibc's own functions. They keep these names even if malloc is replaced.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* __libc_realloc(void* memory, size_t bytes);

namespace {

thread_local constinit std::uint64_t allocations = 0;
thread_local constinit std::uint64_t locks = 0;

using Lock = int (*)(pthread_mutex_t*);

constinit std::atomic<Lock> real_lock{nullptr};

// Returns the real pthread_mutex_lock(). It does not use dlsym(): a preloaded library may replace that,
// with a lock of its own.
Lock RealLock() {
  Lock real = real_lock.load(std::memory_order_relaxed);
  for (const char* version : {"GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (real == nullptr) real = reinterpret_cast<Lock>(dlvsym(RTLD_NEXT, "pthread_mutex_lock", version));
  }
  if (real == nullptr) std::abort();
  real_lock.store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) noexcept {
  ++allocations;
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) noexcept {
  ++allocations;
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) noexcept {
  ++allocations;
  return __libc_realloc(memory, bytes);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  ++locks;
  return RealLock()(mutex);
}

}  // extern "C"

namespace crossover::bench {

std::uint64_t Allocations() { return allocations; }
std::uint64_t Locks() { return locks; }

}  // namespace crossover::bench
