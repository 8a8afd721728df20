// Who would best meet whom: waiting gangs of one GPU count with each other and with those that run.
//
// The heaviest matching (nearly, where gangs are many) of the graph in which an edge is a pair that breaks no
// rule, and its weight what meeting adds to the rate at which the GPUs work: the gain of two that wait, less
// the one that the first would reach alone; the gain of a group with its newcomer less the one it has. Gains
// on GPUs of several nodes count for a little more: there meeting is worth most. Pure.
#pragma once

#include <map>

#include "extender/placement/joins.h"

namespace crossover::placement {

struct Partner {
  const Gang* gang = nullptr;  // that waits, too
  int group = -1;              // that runs
};

// `pairs`: two that wait may be matched; there are GPUs for them.
std::map<const Gang*, Partner> ChoosePartners(const Occupancy& occupancy,
                                              std::span<const Gang* const> waiting, bool pairs,
                                              const Terms& terms);

// The best that some GPU of the cluster offers to gangs of so many GPUs.
Site BestSite(const State& state, int gpus);

}  // namespace crossover::placement
