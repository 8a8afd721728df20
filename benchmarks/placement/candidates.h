// Decides in which order Muri's policies take jobs, and which of them they consider. They consider jobs
// from the first in that order on, as many per GPU count as could run if `together` jobs shared every set
// of GPUs of these nodes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "benchmarks/placement/nodes.h"

namespace crossover::benchmarks {

// Muri-S knows how long each job runs, and takes the one with the least GPU time left first. Muri-L does not
// know it, and takes the one that has had the least GPU time first.
enum class Order : std::uint8_t { kLeastLeft, kLeastHad };

inline double GpuTimeLeft(const Live& live) { return live.left * live.job->iteration_s * live.job->gpus; }
inline double GpuTimeHad(const Live& live) { return live.had_s * live.job->gpus; }
inline double GpuTime(Order order, const Live& live) {
  return order == Order::kLeastLeft ? GpuTimeLeft(live) : GpuTimeHad(live);
}

// Sorts the jobs by `order`. Of equal jobs the one with more GPUs comes first, then the earlier arrival, as
// in Muri's simulator.
std::vector<Live> LeastFirst(Order order, std::vector<Live> live);

// Returns the jobs to consider, by GPU count, each list in the order of `sorted`.
std::map<int, std::vector<Live>> Candidates(const std::vector<Live>& sorted, Nodes nodes, int together);

}  // namespace crossover::benchmarks
