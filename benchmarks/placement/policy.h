// Asks a policy which jobs run now, where, and how fast.
#pragma once

#include <vector>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

struct Cluster {
  int nodes = 8;
  int gpus_per_node = 8;
  int gpus() const { return nodes * gpus_per_node; }
};

// Holds a job that came and has not ended.
struct Live {
  const Job* job = nullptr;
  double left = 0;  // iterations
  bool running = false;
  double had_s = 0;  // how long it has had GPUs, whether it shared them or not
};

// Holds what a policy may know. `live` is in order of arrival. `up` tells for each node whether it is
// there.
struct Situation {
  const std::vector<Live>& live;
  const std::vector<bool>& up;
  double now_s = 0;
};

struct Run {
  const Job* job = nullptr;
  double iteration_s = 0;  // time of an iteration now
  double lost_s = 0;       // time from each event until the job goes on
  int together = 1;        // number of jobs on its GPUs
  std::vector<int> nodes{};
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Returns the jobs that run until the next job comes or ends, or a node fails or returns. All others
  // wait.
  virtual std::vector<Run> Decide(const Situation& at) = 0;
};

}  // namespace crossover::benchmarks
