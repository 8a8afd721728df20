// What a simulation says: its files and its line.
#pragma once

#include <string>

#include "benchmarks/placement/simulate.h"

namespace crossover::benchmarks {

// CSV with a header, a line per job in order of their ends. Throws std::runtime_error where it cannot be
// written.
void WriteJobs(const Outcome& outcome, const std::string& path);
// CSV with a header, a line per moment.
void WriteOccupancy(const Outcome& outcome, const std::string& path);
// One JSON object, without a line's end.
std::string LineOf(const Outcome& outcome, const std::string& policy, int left_out);

}  // namespace crossover::benchmarks
