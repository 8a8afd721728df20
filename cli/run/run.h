// Runs `crossover run`, which starts a command as a rank of a job that takes turns.
#pragma once

#include "cli/run/plan.h"

namespace crossover::cli {

// Replaces this process by the command. Returns only on failure, with the exit code: 2 for options that are
// refused, 127 if the command is not found, 126 if it cannot be started.
int Run(const RunOptions& options);

}  // namespace crossover::cli
