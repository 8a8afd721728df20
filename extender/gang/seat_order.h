// Chooses which pod of a gang gets which of the seats of its plan, by what runs of the same job called. Pure.
#pragma once

#include <string>
#include <vector>

#include "extender/gang/gang_store.h"
#include "extender/placement/fabric.h"

namespace crossover::extender {

// A SeatOrder has the seats of a plan in the order in which pods get them: the pod of the least rank gets the
// first.
struct SeatOrder {
  std::vector<placement::Seat> seats;
  std::string why;  // in words for the user, if they are in another order than the engine gave; else empty
};

// Returns `seats`, the seats of a whole plan for `gang`, in the order that puts the least load on the uplinks
// of the topology domains of `state` and of the nodes (placement/mapping.h). If the GPUs of the seats are of
// unequal speed (GangSettings::gpu_speeds), the longest compute of a pod counts before the uplinks
// (profiles/workload.h). They stay as they are if the job's profile has no communication of as many pods in
// which enough runs agree, if constraints between pods divide the gang (they are planned for each pod), or if
// seats differ in the number of GPUs. REQUIRES: `record` has no plan.
SeatOrder OrderSeats(const GangStore& store, const GangRecord& record, const placement::State& state,
                     const placement::Gang& gang, std::vector<placement::Seat> seats);

// Returns the fabric of the seats, with a level for each of state.levels, by the nodes of `state` and the
// speeds of models of GPUs.
placement::Fabric FabricOf(const placement::State& state, const std::vector<placement::Seat>& seats,
                           const GpuSpeeds& speeds);

}  // namespace crossover::extender
