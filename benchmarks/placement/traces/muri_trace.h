// Muri's traces (github.com/Rivendile/Muri, simulator/trace-data and cluster_exp/trace-data): CSV with a
// header.
//
// From the file, all of it: GPUs, model, submission, iterations, the iteration alone, and the time of each
// stage.
#pragma once

#include <istream>
#include <string>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

// Errors: table.h. `file`: as they call it.
Trace ParseMuri(std::istream& text, const std::string& file);

}  // namespace crossover::benchmarks
