// Reads Muri's traces (github.com/Rivendile/Muri, simulator/trace-data and cluster_exp/trace-data). They
// are CSV with a header.
//
// The file gives all that a job needs: GPUs, model, submission, iterations, the iteration alone, and the
// time of each stage.
#pragma once

#include <istream>
#include <string>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

// Parses a trace. Errors are those of table.h. `file` is its name in errors.
Trace ParseMuri(std::istream& text, const std::string& file);

}  // namespace crossover::benchmarks
