// Finds a set of GPUs for gangs that are to have it alone, or together.
//
// All of a pod's GPUs are on one node. As few and as near nodes as can be: within the narrowest topology
// domain that has room, on the fewest nodes, and on those that are left with the least, so that large gangs
// find whole nodes. Pure.
#pragma once

#include <string>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// Gangs of equal GPU counts that are to have one set, and what each of its GPUs must have.
struct Wanted {
  std::vector<const Gang*> gangs;
  int slots = 1;
  Bytes memory = 0;
  bool many_users = false;      // they run as different users
  std::vector<GpuRef> among{};  // ascending: these alone come into question; empty: all
};

// The GPUs that a node can give without splitting a pod of any of them: multiples of this.
int UnitOf(std::span<const Gang* const> gangs);

// Free GPUs, ascending; none where there is no such set.
std::vector<GpuRef> FindFree(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

// GPUs that the gang could have were nobody on them and nothing kept, as few of them busy as can be; none
// where the cluster has no such set.
std::vector<GpuRef> FindEver(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

}  // namespace crossover::placement
