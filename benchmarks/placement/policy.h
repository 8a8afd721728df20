// What a policy is asked: who runs now, and how fast.
#pragma once

#include <vector>

#include "benchmarks/placement/trace.h"

namespace crossover::benchmarks {

struct Cluster {
  int nodes = 8;
  int gpus_per_node = 8;
};

// A job that came and has not ended.
struct Live {
  const Job* job = nullptr;
  double left = 0;  // iterations
  bool running = false;
};

struct Run {
  const Job* job = nullptr;
  double iteration_s = 0;  // as it goes now
  double lost_s = 0;       // before it goes on, from each event
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Those that run from `now_s` until the next job comes or ends; all others wait. `live` in order of
  // arrival.
  virtual std::vector<Run> Decide(const std::vector<Live>& live, double now_s) = 0;
};

}  // namespace crossover::benchmarks
