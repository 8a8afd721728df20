#include <algorithm>
#include <random>

#include "benchmarks/placement/gangs.h"
#include "benchmarks/placement/nodes.h"
#include "benchmarks/placement/policies.h"

namespace crossover::benchmarks {
namespace {

class RandomPairs : public Policy {
 public:
  RandomPairs(const Cluster& cluster, double efficiency, std::uint64_t seed)
      : cluster_(cluster), efficiency_(efficiency), random_(seed) {}

  std::vector<Run> Decide(const std::vector<Live>& live, double) override {
    for (Pair& pair : pairs_) {
      std::erase_if(pair,
                    [&](const Job* job) { return std::ranges::find(live, job, &Live::job) == live.end(); });
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.empty(); });
    std::ranges::stable_sort(pairs_, {}, [](const Pair& pair) { return -pair.front()->gpus; });
    Nodes nodes(cluster_);
    for (const Pair& pair : pairs_) nodes.Take(pair.front()->gpus);
    for (const Live& one : live) {
      if (one.running) continue;
      if (nodes.Take(one.job->gpus)) {
        pairs_.push_back({one.job});
      } else {
        JoinAny(one.job);
      }
    }
    return Runs(live);
  }

 private:
  using Pair = std::vector<const Job*>;

  void JoinAny(const Job* job) {
    std::vector<Pair*> open;
    for (Pair& pair : pairs_) {
      if (pair.size() == 1 && pair.front()->gpus == job->gpus) open.push_back(&pair);
    }
    if (!open.empty()) open[random_() % open.size()]->push_back(job);
  }
  std::vector<Run> Runs(const std::vector<Live>& live) const {
    std::vector<Run> runs;
    for (const Pair& pair : pairs_) AddRuns(pair, live, cluster_, efficiency_, false, &runs);
    return runs;
  }

  Cluster cluster_;
  double efficiency_;
  std::mt19937_64 random_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Policy> MakeRandom(const Cluster& cluster, double efficiency, std::uint64_t seed) {
  return std::make_unique<RandomPairs>(cluster, efficiency, seed);
}

}  // namespace crossover::benchmarks
