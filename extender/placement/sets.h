// Finds a set of GPUs for one gang, or for gangs that will share it.
//
// All GPUs of a pod are on one node. The set lies in the narrowest topology domain that has room, on the
// fewest nodes, and on those nodes that have the least left afterwards, so that large gangs find whole
// nodes. Pure.
#pragma once

#include <string>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// A Wanted names the gangs that will have one set, and what each of its GPUs must have. The gangs have the
// same number of GPUs.
struct Wanted {
  std::vector<const Gang*> gangs;
  int slots = 1;
  Bytes memory = 0;             // bytes
  bool many_users = false;      // the gangs run as different users
  std::vector<GpuRef> among{};  // the only GPUs that may be chosen, ascending; empty: all
};

// Returns the least common multiple of the gangs' GPUs per pod. A node gives multiples of it, so that no
// pod of any gang is split between nodes.
int UnitOf(std::span<const Gang* const> gangs);

// Returns a set of free GPUs, ascending, or none where there is no such set.
std::vector<GpuRef> FindFree(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

// Returns a set of GPUs that the gangs could have if the cluster were empty and nothing were kept,
// ascending, with as few busy ones as possible. Returns none where the cluster has no such set.
std::vector<GpuRef> FindEver(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

}  // namespace crossover::placement
