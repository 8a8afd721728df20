// Reads what an iteration takes by GPU count: Pollux's measurements on nodes of four T4
// (github.com/petuum/adaptdl, branch osdi21-artifact, simulator/traces/MODEL/placements.csv). The file is CSV
// with a header.
//
// A placement is one digit per node, the GPUs on it. Only packed ones are read: all nodes but one are full.
#pragma once

#include <istream>
#include <map>
#include <string>

namespace crossover::benchmarks {

// Holds seconds. `sync_s` is the part of `step_s` in which gradients are exchanged and nothing is computed.
struct Step {
  double step_s = 0;
  double sync_s = 0;
};

// Returns the steps by GPU count, each with the measured batch per GPU that is nearest to `batch`. Errors
// are those of table.h.
std::map<int, Step> ParseSteps(std::istream& text, const std::string& file, int batch);

}  // namespace crossover::benchmarks
