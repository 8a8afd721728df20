// Decides how long a gang waits before it goes first, and when GPUs are kept for it. Pure.
//
// The patience of a gang is max(starvation_s, starvation_runs T). T is the time for which gangs have had
// their GPUs so far, as the mean over GPUs; Patience::Of() counts less of it for a small gang. A gang that
// has waited for its patience goes before the others of its rank. If it finds no place then, GPUs are kept
// for it as soon as few enough of them are busy: none at first, and any number after three times its
// patience. They stay the same, as long as they suit the gang, until it has them, and no other gang gets
// there. Let R be the longest time that any gang has GPUs, so T <= R. A gang therefore waits for 3
// max(starvation_s, starvation_runs R) at most, plus R for itself and R for each older gang that waits.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

// Patience says how long gangs wait before they go first.
struct Patience {
  double least_s = 0;  // Settings::starvation_s
  // `runs_s` is Settings::starvation_runs times the time for which gangs have had their GPUs so far, as the
  // mean over GPUs. To keep a GPU costs about as much time as the jobs on it will still run. The best guess
  // for that is the time that they have already run.
  double runs_s = 0;
  int node_gpus = 1;  // GPUs of the largest node

  // Returns the larger of `least_s` and `runs_s`, in seconds. For a gang that needs a part of a node, only
  // that part of `runs_s` counts, for two reasons. Fewer kept GPUs cost less. And gangs that hold whole nodes
  // leave no GPU to a small gang, as long as other large gangs wait to join them.
  double Of(const Gang& gang) const;
};

// Returns the patience, computed from the gangs that have GPUs. `now_s` is on the clock of Placed::started_s.
Patience PatienceOf(const State& state, double now_s, const Settings& settings);

// Returns which part (0 to 1) of the GPUs to be kept may be busy: none at first, all once the gang has
// waited three times its patience. A few busy GPUs are free soon, and it costs little to keep the others
// meanwhile.
double BusyPart(double waited_s, double patience_s);

}  // namespace crossover::placement
