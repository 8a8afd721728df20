// What ends a rank: one line for the user. Thrown, caught in main.
#pragma once

#include <stdexcept>

namespace crossover::trainer {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace crossover::trainer
