// Which jobs Muri's policy considers: from those with the least GPU time left, as many per GPU count as could
// run if `together` shared every set of GPUs of these nodes.
#pragma once

#include <map>
#include <vector>

#include "benchmarks/placement/nodes.h"

namespace crossover::benchmarks {

inline double GpuTimeLeft(const Live& live) { return live.left * live.job->iteration_s * live.job->gpus; }

// Shortest first; equal ones in order of arrival.
std::vector<Live> ShortestFirst(std::vector<Live> live);

// By GPU count, each shortest first. `sorted`: shortest first.
std::map<int, std::vector<Live>> Candidates(const std::vector<Live>& sorted, Nodes nodes, int together);

}  // namespace crossover::benchmarks
