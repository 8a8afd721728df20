#include <algorithm>
#include <map>

#include "benchmarks/placement/muri.h"
#include "benchmarks/placement/nodes.h"
#include "benchmarks/placement/policies.h"

namespace crossover::benchmarks {
namespace {

class Exclusive : public Policy {
 public:
  Exclusive(const Cluster& cluster, bool stops) : cluster_(cluster), stops_(stops) {}

  std::vector<Run> Decide(const Situation& at) override {
    std::vector<Live> order = at.live;
    if (stops_) {
      std::ranges::stable_sort(order, {}, [](const Live& l) { return l.left * l.job->iteration_s; });
    } else {  // jobs that have GPUs come first, the large ones before the small ones: so all fit again
      std::ranges::stable_sort(order, {}, [](const Live& l) { return l.running ? -l.job->gpus : 0; });
    }
    Nodes nodes(cluster_, at.up);
    std::vector<Run> runs;
    for (const Live& one : order) {
      std::vector<int> taken = nodes.Take(one.job->gpus);
      if (taken.empty()) continue;
      const bool starts = stops_ || !one.running;
      runs.push_back({one.job, one.job->iteration_s * kAlonePenalty, starts ? StartOf(*one.job) : 0, 1,
                      std::move(taken)});
    }
    return runs;
  }

 private:
  Cluster cluster_;
  bool stops_;
};

}  // namespace

std::unique_ptr<Policy> MakeFifo(const Cluster& cluster) {
  return std::make_unique<Exclusive>(cluster, false);
}
std::unique_ptr<Policy> MakeShortest(const Cluster& cluster) {
  return std::make_unique<Exclusive>(cluster, true);
}

}  // namespace crossover::benchmarks
