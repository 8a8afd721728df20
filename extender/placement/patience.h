// How long a gang waits before GPUs are kept for it. Pure.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

// `starvation_s`, or `starvation_runs` times what those that have GPUs have had them for, on average over
// GPUs, if that is more. Keeping GPUs costs about as much as the jobs on them still run, which is, by what is
// known, as long as they have run. Never more than `starvation_runs` times the longest run there is.
double PatienceOf(const State& state, double now_s, const Settings& settings);

}  // namespace crossover::placement
