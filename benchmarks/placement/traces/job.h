// Holds jobs as all readers of traces give them. Plain data.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace crossover::benchmarks {

// Holds a job; times are in seconds. `stage` is what an iteration needs of the loader and CPU, of the GPU,
// and of the network.
struct Job {
  int id = 0;  // unique in a trace
  int gpus = 0;
  std::string model;
  double submit_s = 0;
  double iterations = 0;
  double iteration_s = 0;  // alone
  std::array<double, 3> stage{};
  double length_s() const { return iterations * iteration_s; }
};

inline constexpr int kMostGpus = 100'000;  // per job

// Holds the jobs of a trace, in order of submission.
struct Trace {
  std::vector<Job> jobs;
  int left_out = 0;  // jobs that were asked for but that the reader cannot use; its header says which
};

}  // namespace crossover::benchmarks
