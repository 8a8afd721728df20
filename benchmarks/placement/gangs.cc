#include "benchmarks/placement/gangs.h"

#include <algorithm>

#include "benchmarks/placement/muri.h"

namespace crossover::benchmarks {

placement::Gang GangOf(const Job& job) {
  placement::Gang gang;
  gang.id = gang.name = std::to_string(job.id);
  gang.space = "trace";
  gang.key = job.model + "/" + std::to_string(job.gpus);
  gang.pods = job.gpus;
  gang.gpus_per_pod = 1;
  gang.memory_cap = 1;
  gang.arrived_s = job.submit_s;
  gang.profile.source = placement::Source::kMeasured;
  gang.profile.compute_s = std::min(job.stage[1], job.iteration_s);
  gang.profile.exposed_s = job.iteration_s - gang.profile.compute_s;
  gang.profile.link_s = job.stage[2];
  gang.profile.host_s = job.stage[0];
  return gang;
}

void AddRuns(std::span<const Job* const> together, const std::vector<int>& nodes,
             const std::vector<Live>& live, double efficiency, bool stops, std::vector<Run>* runs) {
  std::vector<placement::Gang> gangs;
  for (const Job* job : together) gangs.push_back(GangOf(*job));
  std::vector<const placement::Gang*> pointers;
  for (const placement::Gang& gang : gangs) pointers.push_back(&gang);
  const std::vector<double> slowdown = placement::Predict(pointers, nodes.size() > 1, efficiency).slowdown;
  for (std::size_t i = 0; i < together.size(); ++i) {
    const Job* job = together[i];
    const bool starts = stops || !std::ranges::find(live, job, &Live::job)->running;
    runs->push_back({job, job->iteration_s * kAlonePenalty * slowdown[i], starts ? StartOf(*job) : 0,
                     static_cast<int>(together.size()), nodes});
  }
}

placement::State StateOf(const Cluster& cluster, int slots) {
  placement::State state;
  for (int n = 0; n < cluster.nodes; ++n) {
    placement::Node node;
    node.name = "node" + std::to_string(n);
    for (int g = 0; g < cluster.gpus_per_node; ++g) {
      const std::string uuid = node.name + "-" + std::to_string(g);
      node.gpus.push_back({.uuid = uuid, .memory = placement::Bytes{1} << 40, .slots = slots});
    }
    state.nodes.push_back(std::move(node));
  }
  return state;
}

}  // namespace crossover::benchmarks
