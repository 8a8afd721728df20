// Takes a gang through its states. Pure.
//
// No field holds the state: it follows from the GangRecord and from the pods as they are.
//
//   state       known by                             it ends when
//   gathering   no plan, no pod bound, not ready     all pods wait, and the size is known
//   ready       ready                                the engine gives it a plan, or a pod goes
//   reserving   a plan that is not open              the reservations of all members are accepted
//   open        a plan that is open                  all members are at bind, or are bound
//   binding     as before, and Member::go is set     all members are bound
//   running     no plan, some pod bound              a pod comes again: it gets a plan of its own
//   failing     a plan that fails                    nothing of the plan is left
//   claiming    a plan with a claim (claim.h)        the gangs that have its GPUs have left
//   leaving     departure                            no pod of it has GPUs any more
#pragma once

#include <string>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Does everything that can be done now for the gang with this id. Forgets the gang when none of its pods is
// left.
void Reconcile(GangStore& store, const std::string& id);

}  // namespace crossover::extender
