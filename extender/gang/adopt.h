// Takes over the plans of an earlier leader. The plans are in the annotations of the pods. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Continues or forgets the earlier plan of a gang, and sets `gang.adopted` and `gang.completion`. A plan
// continues if the reservations are on all members. It also continues if a gate is lifted or a member is
// bound, because that happens only after the reservations were on all members. REQUIRES: the gang's size is
// known, and the caller calls this once per gang.
void Adopt(GangStore& store, GangRecord& gang);

}  // namespace crossover::extender
