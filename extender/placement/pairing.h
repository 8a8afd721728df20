// Chooses partners for waiting gangs of one GPU count: other waiting gangs, or groups that run.
//
// It computes a maximum weight matching (nearly maximum if gangs are many). An edge joins two waiting gangs,
// or a waiting gang and a group, that break no rule together. Its weight is what sharing adds to the rate at
// which the GPUs work. For two waiting gangs that is their gain less 1, which one of them reaches alone. For
// a group it is the gain with the newcomer less the gain without it. Gains on GPUs of several nodes count a
// little more (Settings::spanning_bonus), because sharing is worth most there. Pure.
#pragma once

#include <map>

#include "extender/placement/join_rules.h"

namespace crossover::placement {

// A Partner is a waiting gang or a group; the other field is unset.
struct Partner {
  const Gang* gang = nullptr;  // another waiting gang
  int group = -1;              // index of a group that has GPUs
};

// Returns a partner for each gang that has one; two waiting gangs that are matched name each other.
// REQUIRES: all gangs in `waiting` have the same number of GPUs. `pairs` says whether two waiting gangs may
// be matched, which is useful only if enough GPUs are free for them.
std::map<const Gang*, Partner> ChoosePartners(const Occupancy& occupancy,
                                              std::span<const Gang* const> waiting, bool pairs,
                                              const Context& context);

// Returns the best values that any open node offers to gangs of this many GPUs. Each value may come from
// another node.
GpuSetSpec BestGpuSet(const State& state, int gpus);

}  // namespace crossover::placement
