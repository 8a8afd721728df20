// Runs `crossover profiles`, which shows what the daemon remembers of jobs that ran on this machine.
#pragma once

#include <string>

namespace crossover::cli {

struct ProfilesOptions {
  std::string socket;
  bool json = false;
};

// Prints the profiles and returns the exit code: 1 if the daemon does not answer.
int Profiles(const ProfilesOptions& options);

}  // namespace crossover::cli
