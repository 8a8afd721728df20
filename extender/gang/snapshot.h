// Builds the input of the placement engine from what is known of the cluster and the gangs. Pure.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns the GPUs that a bound member has. What its node reports wins over what was assigned. Until
// `settle_s` after the binding, and while the node reports too few, both count. REQUIRES: the pod is in the
// ClusterCache.
PodSeat SeatOf(const GangStore& store, const GangRecord& gang, const std::string& uid);

// Returns the nodes and everything that has GPUs. The State does not contain `kept`, which the caller adds.
//
//   of the GangStore and its ClusterCache        in the State
//   GPUNodes, with the Nodes of their names  ->  nodes: closed where they take no pods; a GPU that the
//                                                daemon withholds is not healthy
//   a gang's bound members, its plan's       ->  placed: the gang. It is exclusive while it lacks a seat or
//   entries, and its vacant seats                has a claim, so that no gang joins it
//   its bound members that terminate         ->  placed: a gang "ID (leaving)", exclusive
//   pods that hold slots and are in no gang  ->  placed: a gang of one pod "holder ..", exclusive
//   meetings in JobProfiles                  ->  observed: the gain of each pair
placement::State SnapshotOf(const GangStore& store);

// Returns whether the seat's node takes pods and all of its GPUs are healthy, whatever gangs have them.
bool IsSound(const GangStore& store, const placement::Seat& seat);

// Returns all GPUs that a gang has or is promised, as one seat per node. With `leaving`, returns instead
// those of its bound members that terminate.
std::vector<placement::Seat> SeatsOf(const GangStore& store, const GangRecord& gang, bool leaving);

// Returns by node what the members of plans that are not bound yet will ask for.
std::map<std::string, Resources> PlannedOn(const GangStore& store);

// Returns a function that says whether nodes fit a gang, GPUs aside. It is for one decision: it computes
// PlannedOn() once. REQUIRES: `store` and `state` outlive it.
placement::Fitness FitnessOf(const GangStore& store, const placement::State& state);

}  // namespace crossover::extender
