// Plays a trace: jobs come, a policy says who runs and how fast, jobs end.
#pragma once

#include "benchmarks/placement/policy.h"

namespace crossover::benchmarks {

struct Ended {
  const Job* job = nullptr;
  double end_s = 0;
};

struct Outcome {
  std::vector<Ended> jobs;  // in order of their ends
  double mean_completion_s() const;
  double makespan_s() const;     // from 0 on
  double mean_slowdown() const;  // completion over what the job takes alone
};

// Throws std::runtime_error where a job can never run.
Outcome Simulate(const std::vector<Job>& jobs, Policy& policy);

}  // namespace crossover::benchmarks
