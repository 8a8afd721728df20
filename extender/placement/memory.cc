#include "extender/placement/memory.h"

#include <algorithm>

#include "common/base/job_environment.h"

namespace crossover::placement {

Bytes CapOf(const Gang& gang, const Settings& settings) {
  if (gang.memory_cap > 0) return gang.memory_cap;
  // The peak was neither measured nor given by a user.
  if (gang.profile.source == Source::kUnknown || gang.profile.peak_memory == 0) return 0;
  const double peak = static_cast<double>(gang.profile.peak_memory);
  const auto cap = static_cast<Bytes>(peak * (1 + settings.memory_margin));
  return std::max<Bytes>(cap, base::kLeastGpuMemory);  // the smallest cap that the library enforces
}

Bytes MemoryOf(std::span<const Gang* const> gangs, const Settings& settings) {
  Bytes sum = 0;
  for (const Gang* gang : gangs) sum += CapOf(*gang, settings) + settings.context_reserve;
  return sum;
}

}  // namespace crossover::placement
