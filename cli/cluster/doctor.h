// kubectl crossover doctor: what keeps jobs of a cluster from sharing.
#pragma once

#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/output.h"

namespace crossover::cli {

struct ClusterDoctorOptions {
  Format format = Format::kText;
  std::string bundle;  // a folder that is made: all that was looked at, to be sent to somebody else
};

// 1 where a check failed, or the bundle could not be written.
int ClusterDoctor(const Kubectl& kubectl, const ClusterDoctorOptions& options);

}  // namespace crossover::cli
