// Takes over what an earlier leader had planned, from what it wrote on the pods. Pure.
#pragma once

#include "extender/gang/desk.h"

namespace crossover::extender {

// Once per gang, when its size is known. A plan is carried on if the reservations were on all members, or
// some gate is lifted or some member bound already: then it had been on all. Else it is forgotten.
void Adopt(Desk& desk, GangRecord& gang);

}  // namespace crossover::extender
