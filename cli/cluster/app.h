// Reads the command line of kubectl-crossover. kubectl-crossover has commands like those of `crossover`, and
// asks a whole cluster through kubectl.
#pragma once

namespace crossover::cli {

// Returns whether this program was called as a kubectl plugin: by the name kubectl-crossover.
bool IsKubectlPlugin(const char* called);
// Runs the plugin and returns the exit code.
int ClusterMain(int argc, char** argv, const char* version);

}  // namespace crossover::cli
