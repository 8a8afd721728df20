// Reading how many pods a gang has from whoever made them.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// Of a gang that has an owner. Asks it, unless an answer is to come or it was asked within `pause_s`. Whether
// an answer is to come.
bool ReadOwnerOf(Desk& desk, const GangRecord& gang, double pause_s);

// Where the pods that are there do not make up its size: it may have changed since it was read, as that of an
// elastic job does. Read less and less often while it has not. Whether the answer is still to come.
bool DoubtSize(Desk& desk, const GangRecord& gang);

// Before something is ended because it lacks pods: whether its size was asked for since `*asked` was 0, and
// answered. What fails is asked for a few times. True for one that has no owner.
bool KnowsSizeNow(Desk& desk, const GangRecord& gang, int* asked);

}  // namespace crossover::extender
