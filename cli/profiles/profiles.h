// crossover profiles: what the daemon remembers of jobs that ran here.
#pragma once

#include <string>

namespace crossover::cli {

struct ProfilesOptions {
  std::string socket;
  bool json = false;
};

// Returns the exit code: 1 where the daemon does not answer.
int Profiles(const ProfilesOptions& options);

}  // namespace crossover::cli
