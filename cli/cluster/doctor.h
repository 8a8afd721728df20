// kubectl crossover doctor: what keeps jobs of a cluster from sharing.
#pragma once

#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ClusterDoctorOptions {
  Showing show;
  // A folder that is made: all that was looked at, to be sent to somebody else. Not together with watching.
  std::string bundle;
};

// 1 where a check failed, or the bundle could not be written. A bundle has the report and the objects before
// any program is asked, so that one that is broken off has these.
int ClusterDoctor(const Kubectl& kubectl, const ClusterDoctorOptions& options);

}  // namespace crossover::cli
