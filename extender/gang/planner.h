// Lets the placement engine decide about all gangs that are ready, and gives each gang its plan. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Decides about all gangs that are ready. Starts the plans of those that got GPUs, and records for each
// other one why it got none. Gangs that got a plan or a refusal are dirty afterwards.
void PlanWaiting(GangStore& store);

// Returns one entry for each seat, in the same order, without pods.
std::vector<PlanEntry> EntriesOf(std::vector<placement::Seat> seats);

// Starts a plan with these entries, and gives them to members that wait (FillEntries()). `whole` says that
// the plan is for all members, not for members that came again.
void StartPlan(GangStore& store, GangRecord& gang, std::vector<PlanEntry> entries, bool whole);

// Gives each entry of `plan` that has no pod to a member that waits and has no entry. A member that comes in
// the place of the pod which had the entry before gets that entry. The others get the rest in order of their
// ranks.
void FillEntries(const GangStore& store, const GangRecord& gang, GangPlan* plan);

// Returns the UIDs of the members that wait and have no entry of the plan, in order of their ranks
// (pod_rank.h).
std::vector<std::string> Seatless(const GangStore& store, const GangRecord& gang);

}  // namespace crossover::extender
