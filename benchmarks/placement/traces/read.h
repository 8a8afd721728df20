// Reads a trace of any of the formats from its files.
#pragma once

#include <set>
#include <string>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

struct Source {
  std::string path{};
  std::string format = "muri";       // or gavel, philly
  std::string throughputs{};         // gavel: the file of rates
  std::string gpu = "v100";          // gavel: the kind of GPU whose rates hold
  std::string placements{};          // philly: the directory of simulator_traces_MODEL_placements.csv
  std::set<std::string> clusters{};  // philly: clusters whose jobs are taken; empty: all
};

// Throws std::runtime_error as table.h describes, and for a trace without a job that can be used.
Trace ReadTrace(const Source& source);

}  // namespace crossover::benchmarks
