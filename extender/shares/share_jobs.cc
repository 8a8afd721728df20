#include "extender/shares/share_jobs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "common/api/neighbours.h"
#include "common/base/names.h"
#include "extender/gang/membership.h"

namespace crossover::extender {
namespace {

struct Reported {
  std::vector<GpuNode::Rank> ranks;
  double measured_s = std::numeric_limits<double>::infinity();

  void Add(const Reported& other) {
    ranks.insert(ranks.end(), other.ranks.begin(), other.ranks.end());
    measured_s = std::min(measured_s, other.measured_s);
  }
};

bool Asks(const Pod& pod) {
  const auto found = pod.annotations.find(base::kBatchSharesAnnotation);
  return found != pod.annotations.end() && found->second == "true" && !pod.deleting && !pod.over;
}

std::string WeightsTextOf(const Pod& pod) {
  const auto found = pod.annotations.find(base::kWeightsAnnotation);
  return found == pod.annotations.end() ? "" : found->second;
}

// Returns what the pod's node reports of the pod's ranks. Their waits are those that they would have in an
// iteration for which no other rank makes them wait.
Reported RanksOf(const ClusterCache& cache, const Pod& pod) {
  Reported reported;
  const GpuNode* node = cache.FindGpuNode(pod.node);
  if (node == nullptr) return reported;
  for (const GpuNode::Job& job : node->jobs) {
    if (job.ended || job.name_space != pod.name_space) continue;
    for (GpuNode::Rank rank : job.ranks) {
      if (rank.pod != pod.name) continue;
      const double away_s = job.exposed_s.value_or(0);
      rank.wait_s = gains::WaitBeside(rank.wait_s, away_s, rank.compute_s + rank.wait_s + away_s,
                                      api::NeighboursOf(node->jobs, job, rank.gpu));
      reported.Add({.ranks = {std::move(rank)}, .measured_s = job.at_s});
    }
  }
  return reported;
}

// Returns the times by rank, or none if a number is missing or there twice.
std::vector<RankTimes> ByNumber(std::span<const GpuNode::Rank> reported) {
  std::vector<RankTimes> ranks(reported.size());
  for (const GpuNode::Rank& rank : reported) {
    const auto number = static_cast<std::size_t>(rank.number);
    if (rank.number < 0 || number >= ranks.size() || ranks[number].compute_s > 0) return {};
    ranks[number] = {.compute_s = rank.compute_s, .wait_s = rank.wait_s};
  }
  return ranks;
}

}  // namespace

std::vector<ShareJob> JobsWithShares(const ClusterCache& cache) {
  struct Found {
    ShareJob job;
    Reported reported;
    int size = 0;  // number of pods; 0: not known
    bool complete = true;
  };
  std::map<std::string, Found> found;
  for (const auto& [uid, pod] : cache.pods()) {
    if (!Asks(pod)) continue;
    const Membership membership = MembershipOf(pod);
    Found& its = found[membership.id];
    its.job.id = membership.id;
    its.size = membership.size;
    its.job.pods.push_back(
        {{.uid = uid, .name_space = pod.name_space, .name = pod.name}, WeightsTextOf(pod)});
    const Reported here = RanksOf(cache, pod);
    its.complete &= pod.running && std::cmp_equal(here.ranks.size(), pod.slots());
    its.reported.Add(here);
  }
  std::vector<ShareJob> jobs;
  for (auto& [id, its] : found) {
    its.complete &= its.size == 0 || std::cmp_equal(its.size, its.job.pods.size());
    if (its.complete) its.job.ranks = ByNumber(its.reported.ranks);
    its.job.measured_s = its.reported.measured_s;
    std::ranges::sort(its.job.pods, {}, [](const ShareJob::Member& member) { return member.pod.name; });
    jobs.push_back(std::move(its.job));
  }
  return jobs;
}

}  // namespace crossover::extender
