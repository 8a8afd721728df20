// Implements Muri-S and Muri-L, as published with their simulator. The job with the least GPU time left, or
// had, goes first. Jobs of equal GPU counts are grouped by rounds of matching as far as GPUs are short. All
// is decided anew at each event.
#include <algorithm>
#include <functional>

#include "benchmarks/placement/candidates.h"
#include "benchmarks/placement/muri.h"
#include "benchmarks/placement/nodes.h"
#include "benchmarks/placement/policies.h"
#include "extender/placement/matching.h"

namespace crossover::benchmarks {
namespace {

struct Pack {
  std::vector<const Job*> jobs;
  double first = 0;  // GPU time of the job that comes first
};

Pack Merged(const Pack& a, const Pack& b) {
  Pack merged{.jobs = a.jobs, .first = std::min(a.first, b.first)};
  merged.jobs.insert(merged.jobs.end(), b.jobs.begin(), b.jobs.end());
  return merged;
}

// Returns how much of all four places of the cycle is in use, from 0 to 1.
double UseOf(const Pack& pack) {
  double used = 0;
  for (const Job* job : pack.jobs) used += job->stage[0] + job->stage[1] + job->stage[2];
  return used / (kMostTogether * PublishedCycle(pack.jobs));
}

std::vector<placement::Edge> EdgesOf(const std::vector<Pack>& packs) {
  std::vector<placement::Edge> edges;
  for (std::size_t a = 0; a < packs.size(); ++a) {
    for (std::size_t b = a + 1; b < packs.size(); ++b) {
      if (packs[a].jobs.size() + packs[b].jobs.size() > kMostTogether) continue;
      edges.push_back({static_cast<int>(a), static_cast<int>(b), UseOf(Merged(packs[a], packs[b]))});
    }
  }
  return edges;
}

class Muri : public Policy {
 public:
  Muri(const Cluster& cluster, Order order) : cluster_(cluster), order_(order) {}

  std::vector<Run> Decide(const Situation& at) override {
    std::map<int, std::vector<Pack>> packs;
    needed_ = 0;
    there_ = static_cast<int>(std::ranges::count(at.up, true)) * cluster_.gpus_per_node;
    for (const auto& [gpus, jobs] :
         Candidates(LeastFirst(order_, at.live), Nodes(cluster_, at.up), kMostTogether)) {
      for (const Live& job : jobs) packs[gpus].push_back({{job.job}, GpuTime(order_, job)});
      needed_ += gpus * static_cast<int>(jobs.size());
    }
    for (int round = 0; round < kMostTogether && Short(); ++round) {
      for (auto& [gpus, group] : packs) group = Round(group, gpus);
    }
    return Place(Unpack(packs, at.live), at.up);
  }

 private:
  bool Short() const { return needed_ > there_; }

  // Runs one round of matching. Merges matched packs for as long as GPUs are short.
  std::vector<Pack> Round(const std::vector<Pack>& packs, int gpus) {
    const std::vector<placement::Edge> edges = EdgesOf(packs);
    std::vector<int> partner(packs.size(), -1);
    for (const int chosen : placement::HeaviestMatching(static_cast<int>(packs.size()), edges)) {
      const placement::Edge& edge = edges[static_cast<std::size_t>(chosen)];
      partner[static_cast<std::size_t>(edge.b)] = edge.a;
      partner[static_cast<std::size_t>(edge.a)] = edge.b;
    }
    std::vector<Pack> after;
    for (std::size_t i = 0; i < packs.size(); ++i) {
      const int other = partner[i];
      if (other > static_cast<int>(i)) continue;
      if (other < 0) {
        after.push_back(packs[i]);
      } else if (Short()) {
        after.push_back(Merged(packs[static_cast<std::size_t>(other)], packs[i]));
        needed_ -= gpus;
      } else {
        after.push_back(packs[static_cast<std::size_t>(other)]);
        after.push_back(packs[i]);
      }
    }
    return after;
  }

  // Splits packs whose jobs would be slower together than one after the other. Returns all packs in the
  // policy's order.
  std::vector<Pack> Unpack(const std::map<int, std::vector<Pack>>& packs,
                           const std::vector<Live>& live) const {
    std::vector<Pack> after;
    for (const auto& [gpus, group] : packs) {
      for (const Pack& pack : group) {
        double alone = 0;
        for (const Job* job : pack.jobs) alone += job->iteration_s * kAlonePenalty;
        if (PublishedCycle(pack.jobs) <= alone) {
          after.push_back(pack);
          continue;
        }
        for (const Job* job : pack.jobs) {
          after.push_back({{job}, GpuTime(order_, *std::ranges::find(live, job, &Live::job))});
        }
      }
    }
    std::ranges::stable_sort(after, {}, &Pack::first);
    return after;
  }

  std::vector<Run> Place(const std::vector<Pack>& packs, const std::vector<bool>& up) const {
    Nodes nodes(cluster_, up);
    std::vector<Run> runs;
    for (const Pack& pack : packs) {
      const std::vector<int> taken = nodes.Take(pack.jobs.front()->gpus);
      if (taken.empty()) continue;
      double start_s = 0;
      for (const Job* job : pack.jobs) start_s += StartOf(*job);
      const double cycle_s = PublishedCycle(pack.jobs);
      for (const Job* job : pack.jobs) {
        runs.push_back({job, cycle_s, start_s, static_cast<int>(pack.jobs.size()), taken});
      }
    }
    return runs;
  }

  Cluster cluster_;
  Order order_;
  int needed_ = 0, there_ = 0;  // GPUs
};

}  // namespace

std::unique_ptr<Policy> MakeMuriS(const Cluster& cluster) {
  return std::make_unique<Muri>(cluster, Order::kLeastLeft);
}
std::unique_ptr<Policy> MakeMuriL(const Cluster& cluster) {
  return std::make_unique<Muri>(cluster, Order::kLeastHad);
}

}  // namespace crossover::benchmarks
