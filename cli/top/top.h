// Runs `crossover top`, which shows which jobs are on each GPU, which hold turns and which wait, and what
// sharing costs and gains.
#pragma once

#include <optional>
#include <string>

namespace crossover::cli {

struct TopOptions {
  std::string socket;
  bool json = false;
  std::optional<double> watch_s;  // seconds between repetitions; empty: once
};

// Prints the table and returns the exit code: 1 if the daemon does not answer.
int Top(const TopOptions& options);

}  // namespace crossover::cli
