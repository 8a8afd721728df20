// Carries a plan out, or takes it back. It first writes the reservations of all members, then lifts the
// gates. When a scheduler has asked to bind every member, it posts the Bindings. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Does all next steps of the plan that are possible now. REQUIRES: `gang.plan` is set and not failing.
// Afterwards the plan may be complete and gone, or failing.
void CarryOut(GangStore& store, GangRecord& gang);

// Marks the plan as failing, for the reason `why`: TakeBack() then ends it. Answers the held binds of
// members without a posted Binding. `at_once` allows the next plan without a hold-off. REQUIRES:
// `gang.plan` is set.
void Fail(GangStore& store, GangRecord& gang, std::string why, bool at_once);

// Does all next steps of taking a failing plan back. REQUIRES: `gang.plan` is set and failing. In this order
// it
//   1. posts every Binding again that may still be made, until its outcome is known;
//   2. completes the plan after all, if it failed by its deadline and all its pods turn out to be bound;
//   3. evicts the bound members, if the plan was for the whole gang, unless a disruption budget forbids it;
//   4. removes the reservations of the other members, once the API server has accepted the evictions;
//   5. forgets the plan. The seats of members that came again, and were not bound, stay with the gang.
void TakeBack(GangStore& store, GangRecord& gang);

// Returns the first bytes of a scheduler's message. Whole messages name every reason of every node.
std::string Beginning(const std::string& message);

// Excludes `node` for this gang, because a scheduler would not put a pod there. Each time excludes it for
// longer. `words` is the scheduler's message, of which the beginning is kept; it is empty if none has come
// yet.
void Exclude(GangStore& store, GangRecord& gang, const std::string& node, const std::string& words = "");

}  // namespace crossover::extender
