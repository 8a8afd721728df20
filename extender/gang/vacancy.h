// Seats for members that came again, while others of their gang are bound. Pure.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// Whether places of members that are gone are others' now.
bool KeptLongEnough(const Desk& desk, const GangRecord& gang);

// One seat, which is the caller's now: what a lost member left; else what gangs on the same GPUs have and
// this one has not; else, where it meets nobody, or gangs alone that lack the same and keep no place for it,
// free GPUs for itself, as near to its others as there are by Settings::domains: the others follow it there.
// Nothing where there is none: then `why` says it.
std::optional<placement::Seat> FindSeat(Desk& desk, GangRecord& gang, std::string* why);

}  // namespace crossover::extender
