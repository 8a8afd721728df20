// Futexes on words that several processes share. Thin: each function is one system call.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

#include "common/base/clock.h"

namespace crossover::base {

inline constexpr Nanoseconds kForever = INT64_MAX;

// Sleeps while *word == expected, at most until `deadline` (absolute, CLOCK_MONOTONIC). Returns 0 when woken,
// else EAGAIN (another value), EINTR or ETIMEDOUT. The caller looks at the word again in every case.
inline int FutexWait(const std::uint32_t* word, std::uint32_t expected, Nanoseconds deadline = kForever) {
  const timespec until = ToTimespec(deadline == kForever ? 0 : deadline);
  const long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected,
                              deadline == kForever ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

inline void FutexWake(const std::uint32_t* word, int waiters = INT_MAX) {
  syscall(SYS_futex, word, FUTEX_WAKE, waiters, nullptr, nullptr, 0);
}

}  // namespace crossover::base
