// Plays a trace: jobs come, a policy says who runs and how fast, nodes fail and return, jobs end.
#pragma once

#include <functional>

#include "benchmarks/placement/failures.h"
#include "benchmarks/placement/policy.h"

namespace crossover::benchmarks {

struct Ended {
  const Job* job = nullptr;
  double end_s = 0;
  double start_s = 0;  // for the first time
  int restarts = 0;    // after failures
  double completion_s() const { return end_s - job->submit_s; }
  double wait_s() const { return start_s - job->submit_s; }
  double slowdown() const { return completion_s() / job->length_s(); }  // over what it takes alone
};

// What holds from here until the next one.
struct Moment {
  double from_s = 0;
  double held_gpus = 0;  // that some job has
  int there_gpus = 0;    // of nodes that are up
  int running = 0;       // jobs
  int waiting = 0;
};

struct Outcome {
  std::vector<Ended> jobs{};      // in order of their ends
  std::vector<Moment> moments{};  // from the first job's arrival on; each differs from the one before it
  double held_gpu_s = 0;          // GPUs that some job had
  double there_gpu_s = 0;         // GPUs of nodes that were up, until the last job's end

  double Mean(const std::function<double(const Ended&)>& of) const;
  // The value that `part` (0 to 1) of the jobs do not exceed.
  double Quantile(double part, const std::function<double(const Ended&)>& of) const;
  double mean_completion_s() const { return Mean(&Ended::completion_s); }
  double mean_slowdown() const { return Mean(&Ended::slowdown); }
  double makespan_s() const;  // from 0 on
  double occupancy() const { return held_gpu_s / there_gpu_s; }
  int restarts() const;
};

// A job that was on a node that fails starts again from its last checkpoint. Throws std::runtime_error where
// a job can never run.
Outcome Simulate(const std::vector<Job>& jobs, Policy& policy, const Cluster& cluster,
                 const Failing& failing = {});

}  // namespace crossover::benchmarks
