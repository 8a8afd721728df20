// How long a gang waits before GPUs are kept for it, and at what cost. Pure.
//
// With R, the longest that any gang has GPUs, a gang waits for at most 3 max(starvation_s, starvation_runs
// R), and R for itself and for each older one that waits: from then on GPUs are kept for the oldest whatever
// that costs, the same ones until it has them, and nobody new gets there.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

struct Patience {
  double least_s = 0;  // starvation_s
  // `starvation_runs` times what the gangs that have GPUs have had them for, on average over GPUs. To keep
  // GPUs costs about as much as the jobs on them still run, which is, by what is known, as long as they have
  // run.
  double runs_s = 0;
  int node_gpus = 1;  // of the largest node

  // The larger of the two. For a gang that needs a part of a node, that part of `runs_s`: the fewer GPUs are
  // kept, the less it costs, and gangs that hold whole nodes leave none for a small one while others of
  // their size wait to join them.
  double Of(const Gang& gang) const;
};

Patience PatienceOf(const State& state, double now_s, const Settings& settings);

// What part of the GPUs that are to be kept may be busy: none at first, all of them when the gang has waited
// for three times as long as its patience. Few busy ones are free soon, and cost little meanwhile.
double BusyPart(double waited_s, double patience_s);

}  // namespace crossover::placement
