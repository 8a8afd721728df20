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

  std::vector<Run> Decide(const Situation& at) override {
    const std::vector<Live>& live = at.live;
    for (Pair& pair : pairs_) {
      std::erase_if(pair, [&](const Job* job) {
        return std::ranges::none_of(live, [&](const Live& l) { return l.job == job && l.running; });
      });
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.empty(); });
    std::ranges::stable_sort(pairs_, {}, [](const Pair& pair) { return -pair.front()->gpus; });
    Nodes nodes(cluster_, at.up);
    std::vector<std::vector<int>> taken;
    for (const Pair& pair : pairs_) taken.push_back(nodes.Take(pair.front()->gpus));
    for (const Live& one : live) {
      if (one.running) continue;
      if (std::vector<int> its = nodes.Take(one.job->gpus); !its.empty()) {
        pairs_.push_back({one.job});
        taken.push_back(std::move(its));
      } else {
        JoinAny(one.job);
      }
    }
    return Runs(live, taken);
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
  std::vector<Run> Runs(const std::vector<Live>& live, const std::vector<std::vector<int>>& taken) const {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      AddRuns(pairs_[i], taken[i], live, efficiency_, false, &runs);
    }
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
