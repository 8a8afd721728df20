// Runs `crossover doctor`, which shows what keeps the jobs of this machine from taking turns, and what to do
// about it.
#pragma once

#include <string>

namespace crossover::cli {

struct DoctorOptions {
  std::string api_socket;
  std::string arbiter_socket;  // empty: $CROSSOVER_SOCKET, else what the daemon says, else the default
  std::string library;         // empty: the one beside the program
  bool json = false;
};

// Prints the report and returns the exit code: 1 if a check failed.
int Doctor(const DoctorOptions& options);

}  // namespace crossover::cli
