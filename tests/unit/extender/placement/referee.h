// Says what is wrong with a decision, by the rules as they are written down, not as the engine has them: no
// line of it asks the engine's own code.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/engine.h"
#include "extender/placement/replace.h"

namespace crossover::placement {

// The first fault of carrying `decision` out in `state`, or "". `state` itself must be sound.
std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings);

// The first fault of giving these seats to pods of a gang that has others, or "". The gang lacks as many pods
// as its seats are fewer than them.
std::string FaultOf(const State& state, const std::string& gang, const Replacement& found,
                    const Settings& settings);

}  // namespace crossover::placement
