// Wraps futex(2) for 32-bit words that other processes map too.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "common/base/timespec.h"

namespace crossover::base {

// These two functions access a shared word as one untorn load or store, with acquire and release order.
inline std::uint32_t LoadWord(const std::uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
inline void StoreWord(std::uint32_t* word, std::uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// Sleeps while *word == seen, for at most `timeout_ns` nanoseconds. May return at any time and for any
// reason, so the caller checks the word again. REQUIRES: `timeout_ns` is not negative.
inline void FutexWait(const std::uint32_t* word, std::uint32_t seen, std::int64_t timeout_ns) {
  const timespec timeout = TimespecOf(timeout_ns);
  ::syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// Wakes all threads, of any process, that sleep on `word`.
inline void FutexWakeAll(const std::uint32_t* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace crossover::base
