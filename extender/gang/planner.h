// Lets the placement engine decide about all gangs that are ready, and gives each gang its plan. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Decides about all gangs that are ready. Starts the plans of those that got GPUs, and records for each
// other one why it got none. Gangs that got a plan or a refusal are dirty afterwards.
void PlanWaiting(GangStore& store);

// Starts a plan with one entry per seat. Waiting members get the entries in the order of Seatless(). `whole`
// says that the plan is for all members, not for members that came again.
void StartPlan(GangStore& store, GangRecord& gang, std::vector<placement::Seat> seats, bool whole);

// Returns the UIDs of the members that wait and have no entry of the plan. The order is that of the pods'
// names, the shorter ones first, so that job-2 comes before job-10.
std::vector<std::string> Seatless(const GangStore& store, const GangRecord& gang);

}  // namespace crossover::extender
