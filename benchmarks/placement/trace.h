// Jobs of a trace, as Muri's simulator reads them: CSV with a header.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace crossover::benchmarks {

// Seconds. `stage`: what an iteration needs of the loader and CPU, of the GPU, and of the network.
struct Job {
  int id = 0;
  int gpus = 0;
  std::string model;
  double submit_s = 0;
  double iterations = 0;
  double iteration_s = 0;  // alone
  std::array<double, 3> stage{};
  double length_s() const { return iterations * iteration_s; }
};

// Throws std::runtime_error that names file, line, column, value and what is allowed. In order of submission.
std::vector<Job> ReadTrace(const std::string& path);

}  // namespace crossover::benchmarks
