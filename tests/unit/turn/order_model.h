// Runs two equal jobs in the job model, and measures how fast the order of their turns becomes the same on
// all GPUs.
#pragma once

#include <cstdint>

#include "tests/unit/turn/job_model.h"

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

JobModelResult RunOrderModel(const OrderModelOptions& options);

// Returns the mean step over iterations [first, first + window), averaged over the two jobs, in ns.
double MeanStep(const JobModelResult& result, int first, int window);

// Returns how many iterations lie before the first window of `window` iterations that runs at `share` of
// the reference or better, or the number of iterations looked at if none does. `reference` has the same
// draws, no hand-over cost, and B one turn after A.
int IterationsUntil(const JobModelResult& result, const JobModelResult& reference, double share, int window);
OrderModelOptions ReferenceOf(const OrderModelOptions& options);

}  // namespace crossover::turn::test
