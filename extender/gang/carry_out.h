// Carries a plan out: reservations on all members, then the gates, then, once a scheduler has brought every
// member, the bindings. And takes it back. Pure.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// `gang.plan` is there, and not failing. Afterwards it may be done, or failing.
void CarryOut(Desk& desk, GangRecord& gang);

// From now on the plan is on its way back. `at_once`: the next one may follow without a hold-off.
void Fail(Desk& desk, GangRecord& gang, std::string why, bool at_once);

// Members that are bound by a plan of all are deleted; when that is said, the other reservations are wiped
// off; then the plan is forgotten. A binding that may yet be made is asked for again until it is known.
void TakeBack(Desk& desk, GangRecord& gang);

// Of a scheduler's message, which names every reason of every node.
std::string Beginning(const std::string& message);

// What a scheduler would not have: `node` is left out for this gang, for longer each time. `words`: its own,
// of which the beginning is kept; none where it has not said them yet.
void Exclude(Desk& desk, GangRecord& gang, const std::string& node, const std::string& words = "");

}  // namespace crossover::extender
