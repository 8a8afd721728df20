// Nanoseconds as the kernel wants them.
#pragma once

#include <time.h>

#include <cstdint>

#include "common/base/clock.h"

namespace crossover::base {

// `ns`: from 0.
inline timespec TimespecOf(std::int64_t ns) {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

}  // namespace crossover::base
