// Runs `kubectl crossover doctor`, which shows what keeps the jobs of a cluster from sharing.
#pragma once

#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ClusterDoctorOptions {
  Showing show;
  // `bundle` is a folder to create. It gets everything that the doctor looked at, so that the user can send
  // it to another person. REQUIRES: with a bundle, `show` does not watch.
  std::string bundle;
};

// Prints the findings and returns the exit code: 1 if a check failed or the bundle could not be written.
// The report and the objects are written to the bundle before any program is asked, so a bundle that is
// interrupted has them.
int ClusterDoctor(const Kubectl& kubectl, const ClusterDoctorOptions& options);

}  // namespace crossover::cli
