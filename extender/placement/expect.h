// Combines the prediction of what jobs reach together with what was measured when they met before. Pure.
#pragma once

#include <span>

#include "extender/placement/gain.h"
#include "extender/placement/history.h"
#include "extender/placement/settings.h"

namespace crossover::placement {

// Returns what the gangs are expected to reach on one set of GPUs. `spans` says whether the set has GPUs on
// several nodes. Two gangs that met before are expected to gain what they gained then, and their slowdowns
// are scaled to it. With more than two gangs, the prediction is scaled by the worst pair that met: by its
// measured gain over its predicted gain, at most 1.
Prediction Expect(std::span<const Gang* const> gangs, bool spans, const History& history,
                  const Settings& settings);

}  // namespace crossover::placement
