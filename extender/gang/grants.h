// Says what the pods of a gang are given beside their seats: a limit of GPU memory, and the level of
// compressed reductions that is chosen for them. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "extender/gang/gang_store.h"
#include "extender/gang/request.h"

namespace crossover::extender {

// Returns how much of each GPU's memory new pods are granted, in bytes. Returns 0 if the pods name it
// themselves, or if it is not known.
placement::Bytes ToGrant(const GangStore& store, const GangRecord& gang);

// Returns the level that new pods of the gang get: the one of the decision that placed it, or that its pods
// have. Returns nothing if the owner does not leave it to the cluster, or if no level was chosen.
std::optional<ShrinkChosen> LevelFor(const GangStore& store, const GangRecord& gang);

// Returns the level that is written on the pod, or nothing.
std::optional<ShrinkChosen> LevelOn(const Pod& pod);

// Chooses the level for a gang that a decision gives the seats of `own`, and counts it. `occupants` are all
// gangs that have GPUs then; `state` is what the decision knew.
void Choose(GangStore& store, GangRecord& gang, const placement::State& state, const Occupant& own,
            std::span<const Occupant> occupants);

}  // namespace crossover::extender
