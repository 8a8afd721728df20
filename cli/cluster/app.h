// The command line of kubectl-crossover: as `crossover`, but of a cluster, which it asks through kubectl.
#pragma once

namespace crossover::cli {

// Whether this program was called as a plugin of kubectl: by the name kubectl-crossover.
bool IsKubectlPlugin(const char* called);
int ClusterMain(int argc, char** argv, const char* version);

}  // namespace crossover::cli
