// The cluster as the placement engine is told of it. Pure.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// Which GPUs a bound member has. Its node's word wins over what was assigned; just after a binding both
// count.
PodSeat SeatOf(const Desk& desk, const GangRecord& gang, const std::string& uid);

// Everything that is taken: by bound pods, by plans, by seats that wait for a pod to come again, and by pods
// that nobody planned.
placement::State PictureOf(const Desk& desk);

// All that a gang has or has been promised, by node; `leaving`: of members on their way out instead.
std::vector<placement::Seat> SeatsOf(const Desk& desk, const GangRecord& gang, bool leaving);

// What the members of plans that are not bound yet will ask of each node.
std::map<std::string, Resources> PlannedOn(const Desk& desk);

// What a node must have besides GPUs, as `desk` knows it. Keeps answers at hand: for one decision.
placement::Fitness FitnessOf(const Desk& desk, const placement::State& state);

}  // namespace crossover::extender
