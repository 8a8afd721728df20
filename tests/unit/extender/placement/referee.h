// Finds what is wrong with a decision, by the rules as they are written down and not as the engine
// implements them: it calls none of the engine's code.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/engine.h"

namespace crossover::placement {

// Returns the first fault that carrying `decision` out in `state` would cause, or "". REQUIRES: `state`
// itself has no fault.
std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings);

}  // namespace crossover::placement
