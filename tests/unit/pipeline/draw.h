// Draws pipelines for tests, from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "pipeline/partition.h"

namespace crossover::pipeline {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  // Returns a whole number from `low` to `high`.
  int From(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  // Returns a problem with so many blocks at most, unequal ones, and up to `devices` devices.
  Problem AProblem(int blocks, int devices);

 private:
  std::mt19937_64 random_;
};

// Calls `see` with the borders of every way to cut `blocks` blocks into `chunks` chunks.
void EachDivision(std::size_t blocks, std::size_t chunks,
                  const std::function<void(const std::vector<std::size_t>&)>& see);

}  // namespace crossover::pipeline
