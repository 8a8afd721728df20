#include "simgpu/machine/lock.h"

#include <atomic>

#include "simgpu/machine/os.h"
#include "simgpu/machine/state.h"

namespace simgpu {

namespace {
constexpr int kSpins = 200;  // about the time for which a capacity is held
constexpr Nanos kSuspicion = constants::kSuspicion;
}  // namespace

bool LockShared(std::uint32_t* word, std::uint32_t token, Coroner* coroner) {
  std::atomic_ref<std::uint32_t> lock(*word);
  std::uint32_t seen = 0;
  for (int i = 0; i < kSpins; ++i) {
    seen = 0;
    if (lock.compare_exchange_weak(seen, token, std::memory_order_acquire)) return false;
  }
  for (;;) {
    seen = lock.load(std::memory_order_relaxed);
    if (seen == 0) {
      // Other threads may still sleep on the word. Only this thread knows that they were not woken, so it
      // keeps the mark that tells it to wake them on unlock.
      if (lock.compare_exchange_weak(seen, token | kLockContended, std::memory_order_acquire)) return false;
      continue;
    }
    const std::uint32_t contended = seen | kLockContended;
    if (seen != contended && !lock.compare_exchange_weak(seen, contended)) continue;
    const bool waited_long = FutexWait(word, contended, MonotonicNow() + kSuspicion) == ETIMEDOUT;
    seen = contended;
    if (waited_long && coroner->IsDead(contended & ~kLockContended) &&
        lock.compare_exchange_strong(seen, token | kLockContended, std::memory_order_acquire)) {
      return true;
    }
  }
}

void UnlockShared(std::uint32_t* word) {
  std::atomic_ref<std::uint32_t> lock(*word);
  if (lock.exchange(0, std::memory_order_release) & kLockContended) FutexWake(word, 1);
}

}  // namespace simgpu
