// Takes a gang through its states. Pure.
//
// PhaseOf() derives the state from the GangRecord and from the pods as they are, so that it cannot contradict
// them. Record 0013 tells the states as users meet them:
//
//   state       known by                                it ends when
//   gathering   kGathering                              all pods wait, and the size is known
//   ready       kReady                                  the engine gives it a plan, or a pod goes
//   reserving   kPlanned, PlanPhase::kReserving         the reservations of all members are accepted
//   open        kPlanned, PlanPhase::kOpen              all members are at bind, or are bound
//   binding     as before, pods are in kPassed or on    all members are bound
//   running     kRunning                                a pod comes again: it gets a plan of its own
//   failing     kPlanned, IsFailing()                   nothing of the plan is left
//   claiming    as reserving, with a claim (claim.h)    the gangs that have its GPUs have left
//   leaving     kLeaving                                no pod of it has GPUs any more
#pragma once

#include <string>

#include "extender/gang/gang_store.h"
#include "extender/gang/need.h"

namespace crossover::extender {

// Returns the state of the gang. `head` is what CountOf() says of it now.
GangPhase PhaseOf(const GangStore& store, const GangRecord& gang, const Head& head);

// Does everything that can be done now for the gang with this id. Forgets the gang when none of its pods is
// left.
void Reconcile(GangStore& store, const std::string& id);

}  // namespace crossover::extender
