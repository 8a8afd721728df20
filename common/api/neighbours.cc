#include "common/api/neighbours.h"

namespace crossover::api {

std::vector<gains::Neighbour> NeighboursOf(std::span<const GpuNode::Job> jobs, const GpuNode::Job& own,
                                           const std::string& gpu) {
  std::vector<gains::Neighbour> neighbours;
  if (gpu.empty()) return neighbours;
  for (const GpuNode::Job& job : jobs) {
    if (&job == &own || job.ended) continue;
    const double away_s = job.exposed_s.value_or(0);
    for (const GpuNode::Rank& rank : job.ranks) {
      if (rank.gpu == gpu)
        neighbours.push_back({.compute_s = rank.compute_s, .step_s = rank.compute_s + away_s});
    }
  }
  return neighbours;
}

}  // namespace crossover::api
