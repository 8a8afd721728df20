// A discrete-event model of two data-parallel jobs on many GPUs, driving the shipped turnstile.
//
// Each GPU has a turnstile of its own with two clients, one of each job. A job's iteration: every rank asks
// for its turn when the job's last all-reduce ends, computes for c (times a seeded draw), gives the turn
// back; the all-reduce starts when the last rank has, and takes m. Arbiters poll when the turnstile asks them
// to, each with a phase of its own. Nothing is exchanged between GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "turn/turnstile.h"

namespace crossover::turn::test {

struct OrderModelOptions {
  int gpus = 8;
  Time compute = 20'000'000;
  Time communicate = 12'000'000;
  double jitter = 0.0;         // sigma of each rank's compute, relative; cut at three sigma
  Time hand_over = 100'000;    // from an opened gate, or from arrival at an open one, to the start of compute
  Time second_job_starts = 0;  // B asks for its first turns so much later than A
  bool start_trapped = false;  // even GPUs begin with A, odd ones with B
  bool tie_rule = true;
  int iterations = 60;  // of each job
  std::uint64_t seed = 1;
};

struct OrderModelResult {
  std::vector<Time> ends[2];  // when each iteration of each job ended, its all-reduce included
  Stats stats;                // summed over GPUs
  int overlaps = 0;           // two clients computing on one GPU: must be none
};

OrderModelResult RunOrderModel(const OrderModelOptions& options);

// Mean step over iterations [first, first + window), averaged over the two jobs, in ns.
double MeanStep(const OrderModelResult& result, int first, int window);

// How many iterations lie before the first window of `window` that runs at `share` of the reference or
// better; the number of iterations looked at if none does. `reference` has the same draws, no hand-over cost,
// and B one turn after A.
int IterationsUntil(const OrderModelResult& result, const OrderModelResult& reference, double share,
                    int window);
OrderModelOptions ReferenceOf(const OrderModelOptions& options);

}  // namespace crossover::turn::test
