#include "benchmarks/hook_ns/counted.h"

#include <pthread.h>
#include <stdlib.h>

#include <atomic>

// glibc's own, under the names by which they are still found when malloc is replaced.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* __libc_realloc(void* memory, size_t bytes);

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> locks{0};

}  // namespace

extern "C" {

void* malloc(size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}

// A lock that is taken is counted, not taken: what is measured runs on one thread.
int pthread_mutex_lock(pthread_mutex_t*) noexcept {
  locks.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t*) noexcept { return 0; }

}  // extern "C"

namespace crossover::bench {

std::uint64_t Allocations() { return allocations.load(std::memory_order_relaxed); }
std::uint64_t Locks() { return locks.load(std::memory_order_relaxed); }

}  // namespace crossover::bench
