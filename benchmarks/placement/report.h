// Writes what a simulation found: its files and its line.
#pragma once

#include <string>

#include "benchmarks/placement/simulate.h"

namespace crossover::benchmarks {

// Writes CSV with a header, a line per job in order of their ends. Throws std::runtime_error where the file
// cannot be written.
void WriteJobs(const Outcome& outcome, const std::string& path);
// Writes CSV with a header, a line per moment. Throws as WriteJobs does.
void WriteOccupancy(const Outcome& outcome, const std::string& path);
// Returns one JSON object, without a newline.
std::string LineOf(const Outcome& outcome, const std::string& policy, int left_out);

}  // namespace crossover::benchmarks
