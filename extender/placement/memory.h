// Computes how much memory gangs need on each of their GPUs. Pure.
#pragma once

#include <span>

#include "extender/placement/settings.h"

namespace crossover::placement {

// Returns the most memory that a gang may use on each GPU, in bytes. This is the declared cap, else the
// known peak plus `memory_margin` (but at least base::kLeastGpuMemory), else 0. A gang with 0 has no limit,
// and no other gang may share its GPUs.
Bytes CapOf(const Gang& gang, const Settings& settings);

// Returns the sum of the caps and of `context_reserve` for each gang, in bytes. REQUIRES: all gangs have
// caps.
Bytes MemoryOf(std::span<const Gang* const> gangs, const Settings& settings);

}  // namespace crossover::placement
