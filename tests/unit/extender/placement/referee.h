// Finds what is wrong with a decision, by the rules as they are written down and not as the engine
// implements them: it calls none of the engine's code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "extender/placement/engine.h"

namespace crossover::placement {

// Returns the first fault that carrying `decision` out in `state` would cause, or "". REQUIRES: `state`
// itself has no fault.
std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings);

// Returns what is wrong with the gangs that leave by `decision`, or "": one that may not leave, or a place
// for their successor that breaks a rule. FaultOf() calls it.
std::string FaultOfRoom(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                        const Settings& settings);

// Returns the pods that a node takes, GPUs aside; most clusters of the tests have no limit.
using PodLimit = std::function<int(const Node&)>;

// Returns whether `gang` could have a place beside the gangs of `state`: GPUs of its own, or those of gangs
// that it may share with. REQUIRES: all profiles are measured and equal, without bytes on a link.
bool HasPlace(const State& state, const Gang& gang, const Settings& settings, const PodLimit& limit = {});

}  // namespace crossover::placement
