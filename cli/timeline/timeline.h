// Runs `crossover timeline`, which shows the turns of the last moments, or turns as they come.
#pragma once

#include <string>

namespace crossover::cli {

struct TimelineOptions {
  std::string socket;
  std::string gpu;  // empty: all
  double seconds = 1;
  bool json = false;
  bool follow = false;
};

// Prints the turns and returns the exit code: 1 if the daemon does not answer, or stops while it is
// followed.
int Timeline(const TimelineOptions& options);

}  // namespace crossover::cli
