#include <algorithm>
#include <map>
#include <set>

#include "benchmarks/placement/candidates.h"
#include "benchmarks/placement/gangs.h"
#include "benchmarks/placement/muri.h"
#include "benchmarks/placement/policies.h"

namespace crossover::benchmarks {
namespace {

using placement::Gang;
using placement::Placed;

// Those that have the same GPUs, by job.
std::map<std::string, std::vector<const Job*>> ByGpus(const std::vector<Placed>& placed,
                                                      const std::vector<Live>& live) {
  std::map<std::string, std::vector<const Job*>> groups;
  for (const Placed& one : placed) {
    const auto found =
        std::ranges::find_if(live, [&](const Live& l) { return std::to_string(l.job->id) == one.gang.id; });
    groups[one.seats.front().gpus.front()].push_back(found->job);
  }
  return groups;
}

class Engine : public Policy {
 public:
  Engine(const Cluster& cluster, const placement::Settings& settings, int slots)
      : cluster_(cluster), state_(StateOf(cluster, slots)), settings_(settings) {}

 protected:
  // Decides, and adds what was decided to the state.
  void Place(const std::vector<Gang>& waiting, double now_s) {
    const placement::Decision decision = placement::Decide(state_, waiting, now_s, settings_);
    for (const placement::Plan& plan : decision.plans) {
      const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
      state_.placed.push_back({*gang, plan.seats});
    }
  }
  // `stops`: each starts again.
  std::vector<Run> Runs(const std::vector<Live>& live, bool stops) const {
    std::vector<Run> runs;
    for (const auto& [gpu, jobs] : ByGpus(state_.placed, live))
      AddRuns(jobs, live, cluster_, settings_.efficiency, stops, &runs);
    return runs;
  }

  Cluster cluster_;
  placement::State state_;
  placement::Settings settings_;
};

class Shipped : public Engine {
 public:
  Shipped(const Cluster& cluster, const placement::Settings& settings) : Engine(cluster, settings, 2) {}

  std::vector<Run> Decide(const std::vector<Live>& live, double now_s) override {
    std::erase_if(state_.placed, [&](const Placed& placed) {
      return std::ranges::none_of(live,
                                  [&](const Live& l) { return std::to_string(l.job->id) == placed.gang.id; });
    });
    std::vector<Gang> waiting;
    for (const Live& one : live) {
      if (!one.running) waiting.push_back(Known(GangOf(*one.job)));
    }
    for (Placed& placed : state_.placed) {
      ran_.insert(placed.gang.key);
      placed.gang.profile.source = placement::Source::kMeasured;
    }
    Place(waiting, now_s);
    return Runs(live, false);
  }

 private:
  Gang Known(Gang gang) const {
    if (!ran_.contains(gang.key)) gang.profile.source = placement::Source::kUnknown;
    return gang;
  }
  std::set<std::string> ran_;
};

class Powers : public Engine {
 public:
  Powers(const Cluster& cluster, double efficiency) : Engine(cluster, {}, kMostTogether) {
    settings_.efficiency = efficiency;
    settings_.starvation_s = 1e18;
  }

  // The queue goes by arrival: what is left takes its place.
  std::vector<Run> Decide(const std::vector<Live>& live, double) override {
    state_.placed.clear();
    std::vector<Gang> waiting;
    for (const auto& [gpus, jobs] : Candidates(ShortestFirst(live), cluster_, kMostTogether)) {
      for (const Live& one : jobs) {
        waiting.push_back(GangOf(*one.job));
        waiting.back().arrived_s = GpuTimeLeft(one);
      }
    }
    Place(waiting, 0);
    return Runs(live, true);
  }
};

}  // namespace

std::unique_ptr<Policy> MakeShipped(const Cluster& cluster, const placement::Settings& settings) {
  return std::make_unique<Shipped>(cluster, settings);
}
std::unique_ptr<Policy> MakePowers(const Cluster& cluster, double efficiency) {
  return std::make_unique<Powers>(cluster, efficiency);
}

}  // namespace crossover::benchmarks
