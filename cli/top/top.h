// crossover top: who is on each GPU, who holds and waits, what sharing costs and gains.
#pragma once

#include <optional>
#include <string>

namespace crossover::cli {

struct TopOptions {
  std::string socket;
  bool json = false;
  std::optional<double> watch_s;  // again and again
};

// Returns the exit code: 1 where the daemon does not answer.
int Top(const TopOptions& options);

}  // namespace crossover::cli
