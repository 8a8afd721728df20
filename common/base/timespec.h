// Converts nanoseconds to the kernel's timespec.
#pragma once

#include <time.h>

#include <cstdint>

#include "common/base/clock.h"

namespace crossover::base {

// Returns `ns` nanoseconds as a timespec. REQUIRES: `ns` is not negative.
inline timespec TimespecOf(std::int64_t ns) {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

}  // namespace crossover::base
