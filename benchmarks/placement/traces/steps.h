// What an iteration takes by GPU count: Pollux's measurements on nodes of four T4 (github.com/petuum/adaptdl,
// branch osdi21-artifact, simulator/traces/MODEL/placements.csv). CSV with a header.
//
// A placement is one digit per node, the GPUs on it. Only packed ones are read: all nodes but one are full.
#pragma once

#include <istream>
#include <map>
#include <string>

namespace crossover::benchmarks {

// Seconds. `sync_s`: of `step_s`, the time in which gradients are exchanged and nothing is computed.
struct Step {
  double step_s = 0;
  double sync_s = 0;
};

// By GPU count, each with the measured batch per GPU that is nearest to `batch`. Errors: table.h.
std::map<int, Step> ParseSteps(std::istream& text, const std::string& file, int batch);

}  // namespace crossover::benchmarks
