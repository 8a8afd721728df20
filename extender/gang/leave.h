// Says which gangs may be made to leave for gangs of higher rank. Pure.
#pragma once

#include <span>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns whether the gang is placed and whole, is known as such by this leader, and neither leaves nor must
// leave already. No other gang may be made to leave.
bool IsSteady(const GangStore& store, const GangRecord& gang);

// Sets Placed::leave of the gangs that some gang of `waiting` could make leave, as the placement engine needs
// it, and GangStore::spared_until_s. All stay if the administrator has switched preemption off.
void MarkWhoMayLeave(GangStore& store, std::span<const placement::Gang> waiting, placement::State* state);

}  // namespace crossover::extender
