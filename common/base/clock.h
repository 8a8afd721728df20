// Reads the monotonic clock, in nanoseconds. All processes of one machine share this time base.
#pragma once

#include <time.h>

#include <cstdint>

namespace crossover::base {

inline constexpr std::int64_t kNsPerUs = 1'000;
inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

inline std::int64_t MonotonicNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

}  // namespace crossover::base
