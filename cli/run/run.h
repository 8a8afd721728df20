// crossover run: starts a command as a rank of a job that takes turns.
#pragma once

#include "cli/run/plan.h"

namespace crossover::cli {

// Becomes the command. Returns only on failure, with the exit code: 2 for options that are not allowed, 127
// where the command is not found, 126 where it cannot be started.
int Run(const RunOptions& options);

}  // namespace crossover::cli
