// Finds a set of GPUs for one gang, or for gangs that will share it.
//
// All GPUs of a pod are on one node. The set has GPUs of one model if there is such a set with as few busy
// ones. It lies in the narrowest topology domain that has room, on the fewest nodes, and in the fewest of the
// domains within that one, at each level, the widest first. Of what is left, it takes nodes that have little
// left afterwards, so that large gangs find whole nodes. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

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

// Returns the level of the topology label that has one value on all nodes of the gang: 1 for the widest one,
// and 0 if the gang asks for none. Returns nothing if it asks for a label that is not in State::levels.
std::optional<std::size_t> LevelOf(const State& state, const Gang& gang);

// Returns whether these nodes have one value of that label. REQUIRES: there is a node.
bool IsWithin(const State& state, const Gang& gang, std::span<const OnNode> on);

// Returns the least common multiple of the gangs' GPUs per pod. A node gives multiples of it, so that no
// pod of any gang is split between nodes.
int UnitOf(std::span<const Gang* const> gangs);

// Returns a set of free GPUs, ascending, or none if there is no such set.
std::vector<GpuRef> FindFree(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

// Returns a set of GPUs that the gangs could have if the cluster were empty and nothing were kept, ascending,
// with as few busy ones as possible. Returns none if the cluster has no such set.
std::vector<GpuRef> FindEver(const Occupancy& occupancy, const Wanted& wanted, const Fitness& fitness);

}  // namespace crossover::placement
