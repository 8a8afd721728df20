// Lets the placement engine decide about all gangs that are ready, and gives each plan to its gang. Pure.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// Gangs that got a plan are dirty afterwards; the others know why they did not.
void PlanWaiting(Desk& desk);

// A plan whose slots are those seats; members that wait get one each, in the order of their names.
void StartPlan(Desk& desk, GangRecord& gang, std::vector<placement::Seat> seats, bool whole);

// Members that wait for a seat and have none, in the order of their names: 2 comes before 10.
std::vector<std::string> Seatless(const Desk& desk, const GangRecord& gang);

}  // namespace crossover::extender
