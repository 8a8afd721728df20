#include "benchmarks/placement/candidates.h"

#include <algorithm>
#include <utility>

namespace crossover::benchmarks {

std::vector<Live> LeastFirst(Order order, std::vector<Live> live) {
  std::ranges::stable_sort(
      live, {}, [order](const Live& one) { return std::pair(GpuTime(order, one), -one.job->gpus); });
  return live;
}

std::map<int, std::vector<Live>> Candidates(const std::vector<Live>& sorted, Nodes nodes, int together) {
  std::map<int, std::vector<Live>> by_count;
  for (const Live& live : sorted) by_count[live.job->gpus].push_back(live);
  std::map<int, std::size_t> chosen, seen;
  for (const Live& live : sorted) {
    const int gpus = live.job->gpus;
    if (seen[gpus]++ < chosen[gpus] || nodes.Take(gpus).empty()) continue;
    chosen[gpus] = std::min(chosen[gpus] + static_cast<std::size_t>(together), by_count[gpus].size());
  }
  for (auto& [gpus, jobs] : by_count) jobs.resize(chosen[gpus]);
  return by_count;
}

}  // namespace crossover::benchmarks
