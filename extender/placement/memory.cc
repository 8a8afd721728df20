#include "extender/placement/memory.h"

namespace crossover::placement {

Bytes CapOf(const Gang& gang, const Settings& settings) {
  if (gang.memory_cap > 0) return gang.memory_cap;
  if (gang.profile.source != Source::kMeasured) return 0;
  return static_cast<Bytes>(static_cast<double>(gang.profile.peak_memory) * (1 + settings.memory_margin));
}

Bytes MemoryOf(std::span<const Gang* const> gangs, const Settings& settings) {
  Bytes sum = 0;
  for (const Gang* gang : gangs) sum += CapOf(*gang, settings) + settings.context_reserve;
  return sum;
}

}  // namespace crossover::placement
