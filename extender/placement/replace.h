// Gives seats to pods of a gang that others of its pods have already: one was lost and came again.
//
// Pure; as Decide(), but nobody waits in a queue for this: a gang that lacks a pod keeps all its GPUs busy
// for nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "extender/placement/explain.h"

namespace crossover::placement {

// Either seats, all that were asked for, or the reason why not.
struct Replacement {
  std::vector<Seat> seats;  // those of the vacant ones first, in their order
  std::optional<Refusal> refusal;
};

// `gang` is one of `state.placed`; `vacant` are places in its `seats` whose pods are gone (the seats are told
// in the state nevertheless, so that nobody else has got them). Seats are found for these pods, and for those
// that `seats` are fewer than the gang's pods. A pod gets the seat that was vacant, if its GPUs are sound,
// its node open and fit for it. Else, where no other gang shares the gang's GPUs, any free GPUs, as near as
// can be; where one does, there is none: gangs of a set have the same GPUs, and who runs is not moved. The
// next State has to tell of the seats; what `Decide` gave out since is none of them.
Replacement Replace(const State& state, const std::string& gang, std::span<const int> vacant,
                    const Settings& settings, const Fitness& fitness = FitsAnywhere);

}  // namespace crossover::placement
