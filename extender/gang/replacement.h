// Finds seats for members that came again while others of their gang are bound. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns whether the gang's vacant seats have been kept for `seats_kept_s`, so that other gangs may have
// them.
bool KeptLongEnough(const GangStore& store, const GangRecord& gang);

// Finds a seat for one pod of the gang. It tries in this order:
//   1. a seat that a lost member left: if it can, that of the pod in whose place a waiting pod comes;
//   2. GPUs that the gangs on the same GPUs have, and this gang lacks;
//   3. the nearest free GPUs, by GangSettings::domains. The gang must share with no other gang, or only with
//      gangs that lack the same GPUs and keep no seat for them. Those gangs then follow it there.
// The entry has no pod yet (FillEntries()). The caller owns its seat: a vacant one is removed from the gang.
// If there is no seat, returns nothing and sets `why` to the reason.
std::optional<PlanEntry> FindSeat(GangStore& store, GangRecord& gang, std::string* why);

}  // namespace crossover::extender
