// The command line of `crossover`: reads it and does what it says.
#pragma once

namespace crossover::cli {

// Returns the program's exit code: 2 for a command line that is not allowed.
int Main(int argc, char** argv, const char* version);

}  // namespace crossover::cli
