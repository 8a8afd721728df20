// The one clock of the project: CLOCK_MONOTONIC in nanoseconds, the same for every process of a node.
#pragma once

#include <time.h>

#include <cstdint>

namespace crossover::base {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

// A vDSO call on the kernels we run on: no system call, safe in a signal handler.
inline Nanoseconds MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * kSecond + now.tv_nsec;
}

constexpr timespec ToTimespec(Nanoseconds duration) {
  timespec result{};
  result.tv_sec = static_cast<time_t>(duration / kSecond);
  result.tv_nsec = static_cast<long>(duration % kSecond);
  return result;
}

}  // namespace crossover::base
