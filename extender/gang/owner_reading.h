// Asks for reads of the object that says how many pods a gang has. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Begins a read of the gang's owner, unless one is in flight or one began within the last `pause_s`
// seconds. Returns whether a read is in flight. REQUIRES: the gang has an owner.
bool ReadOwnerOf(GangStore& store, const GangRecord& gang, double pause_s);

// Begins a read of the gang's owner because its pods do not match its size: an elastic job changes its
// size. The reads become less frequent while the size stays the same. Returns whether a read is in flight;
// false for a gang without an owner.
bool DoubtSize(GangStore& store, const GangRecord& gang);

// Returns whether the size of the gang is up to date. The caller asks before it ends a gang that lacks pods.
// If the answer is false, this begins a read if it can and counts it in `*asked`, and the caller asks again
// later. `*asked` is 0 at the first call. After three reads the known size counts, even if all of them
// failed. Returns true for a gang without an owner.
bool KnowsSizeNow(GangStore& store, const GangRecord& gang, int* asked);

}  // namespace crossover::extender
