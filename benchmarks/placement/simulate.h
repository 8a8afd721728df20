// Plays a trace: jobs come, a policy decides which jobs run and how fast, nodes fail and return, jobs end.
#pragma once

#include <functional>

#include "benchmarks/placement/failures.h"
#include "benchmarks/placement/policy.h"

namespace crossover::benchmarks {

struct Ended {
  const Job* job = nullptr;
  double end_s = 0;
  double start_s = 0;  // when it first started
  int restarts = 0;    // because of failures
  double completion_s() const { return end_s - job->submit_s; }
  double wait_s() const { return start_s - job->submit_s; }
  double slowdown() const { return completion_s() / job->length_s(); }  // completion over the time alone
};

// Holds the state from `from_s` until the next moment.
struct Moment {
  double from_s = 0;
  double held_gpus = 0;  // GPUs that a job has
  int there_gpus = 0;    // GPUs of nodes that are up
  int running = 0;       // jobs
  int waiting = 0;
};

struct Outcome {
  std::vector<Ended> jobs{};      // in order of their ends
  std::vector<Moment> moments{};  // from the first job's arrival on; each differs from the one before it
  double held_gpu_s = 0;          // GPU time that a job had
  double there_gpu_s = 0;         // GPU time of nodes that were up, until the last job's end

  double Mean(const std::function<double(const Ended&)>& of) const;
  // Returns the value that `part` (0 to 1) of the jobs do not exceed, or 0 where there are no jobs.
  double Quantile(double part, const std::function<double(const Ended&)>& of) const;
  double mean_completion_s() const { return Mean(&Ended::completion_s); }
  double mean_slowdown() const { return Mean(&Ended::slowdown); }
  double makespan_s() const;  // end of the last job; the trace begins at 0
  double occupancy() const { return held_gpu_s / there_gpu_s; }
  int restarts() const;
};

// Plays the whole trace. A job that was on a node that fails starts again from its last checkpoint. Throws
// std::runtime_error where a job can never run.
Outcome Simulate(const std::vector<Job>& jobs, Policy& policy, const Cluster& cluster,
                 const Failing& failing = {});

}  // namespace crossover::benchmarks
