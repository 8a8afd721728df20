// What jobs on one set of GPUs may be expected to reach together.
//
// In lock step each job does one iteration per cycle, and the cycle takes
//   T* = max(sum c + sum (spinning m), max (c + m), sum l, sum h),
// l where they share a link, h where they share a host's CPUs. Turns are not in lock step: jobs of unequal
// iterations get equal *rates* (step alone over step together), the largest that the GPU and the link allow,
// and a job with a cap on its slowdown never less than that asks for. For jobs of equal iterations both are
// the same.
//
// Pure.
#pragma once

#include <span>
#include <vector>

#include "extender/placement/model.h"

namespace crossover::placement {

struct Prediction {
  double cycle_s = 0;                 // T*; 0 where a profile is unknown
  double lockstep_gain = 0;           // sum (c + m) / T*; 0 where a profile is unknown
  double gain = 1;                    // sum of rates: over one after the other
  std::vector<double> slowdown;       // of each, in their order: 1 / rate
  bool caps_kept = true;              // there is a way to keep all caps on slowdowns
  Source source = Source::kMeasured;  // the least known of the profiles
  bool met = false;                   // the gain is what they reached when they met before (expect.h)
};

// Of the GPU's time, what may be promised to jobs with caps; the rest covers what no one foresees.
inline constexpr double kPromised = 0.95;

// T* of jobs whose profiles are all known.
double LockstepCycle(std::span<const Gang* const> gangs);

// `efficiency`: of the best, what is reached; a gang by itself always reaches all of it. An unknown profile
// counts as a job that is exposed for as long as published ones are: little on one node, much across nodes.
// `spans`: the GPUs are on several nodes; only there do jobs share a link.
Prediction Predict(std::span<const Gang* const> gangs, bool spans, double efficiency);

// What is taken for the part of an iteration that is busy on the GPU where nothing is known.
double UsualBusyPart(bool spans);

}  // namespace crossover::placement
