// Lets nodes fail at random and return. Deterministic by its seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace crossover::benchmarks {

struct Failing {
  double mean_up_s = 0;  // of one node, between its return and its next failure; 0: no node fails
  double down_s = 3600;
  double checkpoint_s = 1800;  // running time between checkpoints; jobs keep what they did until the last one
  std::uint64_t seed = 1;
};

class Failures {
 public:
  Failures(int nodes, const Failing& failing);

  // Returns when the next node fails or returns, or infinity where none ever does.
  double next_s() const;
  // Makes that change and returns the node.
  int Pass();
  const std::vector<bool>& up() const { return up_; }

 private:
  double DrawUp();

  Failing failing_;
  std::mt19937_64 random_;
  std::vector<bool> up_;
  std::vector<double> changes_s_;
};

}  // namespace crossover::benchmarks
