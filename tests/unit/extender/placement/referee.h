// Says what is wrong with a decision, by the rules as they are written down, not as the engine has them: no
// line of it asks the engine's own code.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/engine.h"

namespace crossover::placement {

// The first fault of carrying `decision` out in `state`, or "". `state` itself must be sound.
std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings);

}  // namespace crossover::placement
