// Runs a program to its end, with what it is to read, and collects what it writes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crossover::process {

struct Outcome {
  int status = 0;      // its exit status; 128 and the signal's number where one ended it
  std::string output;  // of its standard output, at most as much as was wanted
  std::string errors;  // of its standard error, likewise, where that was wanted
};
inline constexpr std::size_t kMostOutput = 1u << 20;

struct Wanted {
  std::size_t most = kMostOutput;
  bool errors = false;  // else they go where ours go
};

// `command`: the program, found as a shell would, and its arguments. `variables` are set beside our own.
// Nothing where it cannot be started or has not ended within `patience`: then it is killed. Thread-safe.
std::optional<Outcome> Run(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& input, std::chrono::milliseconds patience,
                           const Wanted& wanted = {});

}  // namespace crossover::process
