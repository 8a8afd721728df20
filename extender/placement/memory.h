// Whether gangs fit into the memory of one GPU together. Pure.
#pragma once

#include <span>

#include "extender/placement/settings.h"

namespace crossover::placement {

// What a gang is kept to on each GPU: what was declared, else the measured peak with a margin, else 0: it has
// no limit, and may have nobody beside it.
Bytes CapOf(const Gang& gang, const Settings& settings);

// Their caps and what each client's context takes. Only for gangs that have caps.
Bytes MemoryOf(std::span<const Gang* const> gangs, const Settings& settings);

}  // namespace crossover::placement
