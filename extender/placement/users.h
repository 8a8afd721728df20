// Limits the pods on nodes whose MPS serves one user at a time: a process of another user waits there in its
// first call until those of the first user have ended. Pure.
#pragma once

#include <string>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// Returns a Fitness that limits what `fitness` answers. On a node whose MPS serves one user (Node::one_user)
//   - a pod of a gang of several users (Gang::users) fits only alone: no other pod of any gang may be there;
//   - a pod that has several users itself never fits.
// REQUIRES: `state` outlives the result.
Fitness LimitedByUser(const State& state, Fitness fitness);

}  // namespace crossover::placement
