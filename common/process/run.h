// Runs a program until it ends, gives it input, and collects its output.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crossover::process {

struct Outcome {
  int status = 0;      // exit status; 128 plus the signal's number if a signal ended the program
  std::string output;  // standard output, at most Wanted::most bytes and one more read
  std::string errors;  // standard error, with the same limit; empty if Wanted::errors is false
};
inline constexpr std::size_t kMostOutput = 1u << 20;

// A NoOutcome says why Run() returned nothing. kNotStarted: the program could not be started, its input is
// too large, or its exit status was lost. kLate: the program had not ended in time, and Run() killed it.
enum class NoOutcome : std::uint8_t { kNotStarted, kLate };

struct Wanted {
  std::size_t most = kMostOutput;
  bool errors = false;  // collect standard error; otherwise the program inherits ours
};

// Runs `command`, which is the program, found as a shell finds it, and its arguments. The program inherits
// our environment with `variables` added or replaced, and reads `input`, which has 1 MiB at most. Returns
// nothing if the program cannot be started, if the input is larger than a pipe may be, or if the program has
// not ended within `patience`; in the last case it is killed. `why`, unless null, then gets which of these it
// was. Thread-safe.
std::optional<Outcome> Run(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& input, std::chrono::milliseconds patience,
                           const Wanted& wanted = {}, NoOutcome* why = nullptr);

}  // namespace crossover::process
