// What a policy is asked: who runs now, where, and how fast.
#pragma once

#include <vector>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

struct Cluster {
  int nodes = 8;
  int gpus_per_node = 8;
  int gpus() const { return nodes * gpus_per_node; }
};

// A job that came and has not ended.
struct Live {
  const Job* job = nullptr;
  double left = 0;  // iterations
  bool running = false;
  double had_s = 0;  // how long it has had GPUs, whether it shared them or not
};

// `live`: in order of arrival. `up`: of each node, whether it is there.
struct Situation {
  const std::vector<Live>& live;
  const std::vector<bool>& up;
  double now_s = 0;
};

struct Run {
  const Job* job = nullptr;
  double iteration_s = 0;  // as it goes now
  double lost_s = 0;       // before it goes on, from each event
  int together = 1;        // jobs on its GPUs
  std::vector<int> nodes{};
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Those that run until the next job comes or ends, or a node goes or returns; all others wait.
  virtual std::vector<Run> Decide(const Situation& at) = 0;
};

}  // namespace crossover::benchmarks
