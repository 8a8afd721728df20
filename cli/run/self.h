// Reads what this process knows about itself.
#pragma once

#include <string>

#include "cli/run/plan.h"

namespace crossover::cli {

// Returns the environment of this process.
Environment ReadEnvironment();

// Returns the directory of this program's file.
std::string ProgramDirectory();

}  // namespace crossover::cli
