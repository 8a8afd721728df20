// Lets a gang leave so that another one gets its GPUs: all of its pods are evicted, or none. Pure.
//
// The gang keeps no seats for pods that come again: they wait like those of a new gang, with its age
// (made_room.h). Once begun, a departure goes to its end, even if the claim is given up meanwhile.
#pragma once

#include <span>
#include <string>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns why the disruption budgets do not allow that all these gangs leave, or "" if they do. A budget may
// select pods of several gangs.
std::string WhyTheyMayNotLeave(const GangStore& store, std::span<const std::string> gangs);

// Begins the departure of a gang for `claimant`. REQUIRES: the gang has no departure, and no plan.
void BeginDeparture(GangStore& store, GangRecord& gang, const GangRecord& claimant);

// Does all next steps of the departure that are possible now. REQUIRES: `gang.departure` is set. If a budget
// forbids an eviction, the departure ends, the pods that stay go on, and the claim says why.
void Depart(GangStore& store, GangRecord& gang);

}  // namespace crossover::extender
