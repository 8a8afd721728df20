// Limits the pods on nodes whose MPS serves one user at a time: a process of another user waits there in its
// first call until those of the first user have ended. Pure.
#pragma once

#include <string>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// Returns a Fitness that says what `fitness` says, and besides: on a node whose MPS serves one user
// (Node::one_user), a pod of a gang of several users (Gang::users) is the only one of any gang, and a pod
// that has several users itself fits never. The result refers to `state`, which has to outlive it.
Fitness LimitedByUser(const State& state, Fitness fitness);

}  // namespace crossover::placement
