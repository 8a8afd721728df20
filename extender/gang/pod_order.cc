#include "extender/gang/pod_order.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "extender/gang/pod_rank.h"

namespace crossover::extender {

PodOrder OrderOf(const ClusterCache& cache, std::span<const GpuNode::Job> jobs) {
  std::set<PodName> named;
  for (const GpuNode::Job& job : jobs) {
    for (const NcclCall& call : job.communication) named.emplace(job.name_space, call.pod);
  }
  if (named.empty()) return {};
  std::vector<std::pair<PodRank, PodName>> found;
  for (const auto& [uid, pod] : cache.pods()) {
    PodName name(pod.name_space, pod.name);
    if (named.contains(name)) found.emplace_back(RankOf(pod), std::move(name));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  PodOrder order;
  for (auto& [rank, name] : found) {
    const std::size_t place = order.size();
    order.emplace(std::move(name), place);
  }
  return order;
}

}  // namespace crossover::extender
