// Reads the command line of `crossover` and runs the command.
#pragma once

namespace crossover::cli {

// Returns the program's exit code, 2 for an invalid command line.
int Main(int argc, char** argv, const char* version);

}  // namespace crossover::cli
