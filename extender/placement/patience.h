// How long a gang waits before GPUs are kept for it, and at what cost. Pure.
//
// With R, the longest that any gang has GPUs, a gang waits for at most 3 max(starvation_s, starvation_runs
// R), and R for itself and for each older one that waits: from then on GPUs are kept for the oldest whatever
// that costs, the same ones until it has them, and nobody new gets there.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

// `starvation_s`, or `starvation_runs` times what those that have GPUs have had them for, on average over
// GPUs, if that is more: to keep GPUs costs about as much as the jobs on them still run, which is, by what is
// known, as long as they have run.
double PatienceOf(const State& state, double now_s, const Settings& settings);

// What part of the GPUs that are to be kept may be busy: none at first, all of them when the gang has waited
// for three times as long as its patience. Few busy ones are free soon, and cost little meanwhile.
double BusyPart(double waited_s, double patience_s);

}  // namespace crossover::placement
