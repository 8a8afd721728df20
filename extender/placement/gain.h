// Predicts what jobs on one set of GPUs reach together.
//
// In lock step each job does one iteration per cycle, and the cycle takes
//   T* = max(sum c + sum (spinning m), max (c + m), sum l, sum h).
// The l count only if the jobs share a link, and the h only if they share a host's CPUs. Turns do not run in
// lock step.
// Jobs with iterations of unequal length get the fair rates of common/gains/turns.h, in which a cap on the
// slowdown is a floor of the rate. For jobs with equal iterations both models give the same result.
//
// Pure.
#pragma once

#include <span>
#include <vector>

#include "extender/placement/model.h"

namespace crossover::placement {

// A Prediction is for gangs in a given order.
struct Prediction {
  double cycle_s = 0;                 // T*; 0 if a profile is unknown
  double lockstep_gain = 0;           // sum (c + m) / T*; 0 if a profile is unknown
  double gain = 1;                    // sum of rates, relative to running one after the other
  std::vector<double> slowdown;       // 1 / rate of each gang, in their order
  bool caps_kept = true;              // all caps on slowdowns can be kept
  Source source = Source::kMeasured;  // the source of the least known profile
  bool met = false;                   // `gain` was measured when they met before (expect.h)
};

// Returns T*, in seconds. `spans` is as for Predict(). REQUIRES: all profiles are known.
double LockstepCycle(std::span<const Gang* const> gangs, bool spans);

// Returns what the gangs reach together. `efficiency` is the part of the best rate that turns reach; a gang
// alone always reaches all of it. A gang with an unknown profile counts as a job that spends as much time
// off the GPU as published jobs do: little on one node, much across nodes. `spans` says that the GPUs are
// on several nodes; only then do jobs share a link.
Prediction Predict(std::span<const Gang* const> gangs, bool spans, double efficiency);

// Returns the part of an iteration (0 to 1) that a job with an unknown profile is assumed to be busy on the
// GPU.
double UsualBusyPart(bool spans);

}  // namespace crossover::placement
