// What jobs may be expected to reach together: what is predicted, and what was seen. Pure.
#pragma once

#include <span>

#include "extender/placement/gain.h"
#include "extender/placement/history.h"
#include "extender/placement/settings.h"

namespace crossover::placement {

// Two that met before gain what they gained then: a measured meeting beats a prediction, and their slowdowns
// are stretched to it. Of more than two, no more is expected than the worst pair that met reached of what was
// predicted for it.
Prediction Expect(std::span<const Gang* const> gangs, bool spans, const History& history,
                  const Settings& settings);

}  // namespace crossover::placement
