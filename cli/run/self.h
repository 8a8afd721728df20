// What this process knows of itself.
#pragma once

#include <string>

#include "cli/run/plan.h"

namespace crossover::cli {

Environment ReadEnvironment();

// Where this program's file is.
std::string ProgramDirectory();

}  // namespace crossover::cli
