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

// Holds jobs that have the same GPUs, and the nodes of these GPUs.
struct Together {
  std::vector<const Job*> jobs;
  std::set<int> nodes;
};

int IndexOf(const placement::State& state, const std::string& node) {
  return static_cast<int>(std::ranges::find(state.nodes, node, &placement::Node::name) - state.nodes.begin());
}

// Returns the jobs that share GPUs, by the UUID of their first GPU.
std::map<std::string, Together> ByGpus(const placement::State& state, const std::vector<Live>& live) {
  std::map<std::string, const Job*> jobs;
  for (const Live& one : live) jobs[std::to_string(one.job->id)] = one.job;
  std::map<std::string, Together> groups;
  for (const Placed& one : state.placed) {
    Together& together = groups[one.seats.front().gpus.front()];
    together.jobs.push_back(jobs.at(one.gang.id));
    for (const placement::Seat& seat : one.seats) together.nodes.insert(IndexOf(state, seat.node));
  }
  return groups;
}

class Engine : public Policy {
 public:
  Engine(const Cluster& cluster, const placement::Settings& settings, int slots)
      : cluster_(cluster), state_(StateOf(cluster, slots)), settings_(settings) {}

 protected:
  // Decides about the waiting gangs, and adds the plans to the state.
  void Place(const std::vector<Gang>& waiting, const std::vector<bool>& up, double now_s) {
    for (std::size_t n = 0; n < up.size(); ++n) state_.nodes[n].open = up[n];
    placement::Decision decision = placement::Decide(state_, waiting, now_s, settings_);
    state_.kept = std::move(decision.kept);
    for (const placement::Plan& plan : decision.plans) {
      const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
      state_.placed.push_back({*gang, plan.seats, now_s});
    }
  }
  // Returns the runs of all placed jobs. Where `stops`, each job starts again.
  std::vector<Run> Runs(const std::vector<Live>& live, bool stops) const {
    std::vector<Run> runs;
    for (const auto& [gpu, together] : ByGpus(state_, live)) {
      const std::vector<int> nodes(together.nodes.begin(), together.nodes.end());
      AddRuns(together.jobs, nodes, live, settings_.efficiency, stops, &runs);
    }
    return runs;
  }

  Cluster cluster_;
  placement::State state_;
  placement::Settings settings_;
};

class Shipped : public Engine {
 public:
  using Engine::Engine;

  std::vector<Run> Decide(const Situation& at) override {
    std::set<std::string> running;
    for (const Live& one : at.live) {
      if (one.running) running.insert(std::to_string(one.job->id));
    }
    std::erase_if(state_.placed, [&](const Placed& placed) { return !running.contains(placed.gang.id); });
    std::vector<Gang> waiting;
    for (const Live& one : at.live) {
      if (!one.running) waiting.push_back(Known(GangOf(*one.job)));
    }
    for (Placed& placed : state_.placed) {
      ran_.insert(placed.gang.key);
      placed.gang.profile.source = placement::Source::kMeasured;
    }
    Place(waiting, at.up, at.now_s);
    return Runs(at.live, false);
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

  // Sets each gang's arrival to the GPU time that the job has left: the engine's queue goes by arrival.
  std::vector<Run> Decide(const Situation& at) override {
    state_.placed.clear();
    std::vector<Gang> waiting;
    for (const auto& [gpus, jobs] :
         Candidates(LeastFirst(Order::kLeastLeft, at.live), Nodes(cluster_, at.up), kMostTogether)) {
      for (const Live& one : jobs) {
        waiting.push_back(GangOf(*one.job));
        waiting.back().arrived_s = GpuTimeLeft(one);
      }
    }
    Place(waiting, at.up, 0);
    return Runs(at.live, true);
  }
};

}  // namespace

std::unique_ptr<Policy> MakeShipped(const Cluster& cluster, const placement::Settings& settings, int slots) {
  return std::make_unique<Shipped>(cluster, settings, slots);
}
std::unique_ptr<Policy> MakePowers(const Cluster& cluster, double efficiency) {
  return std::make_unique<Powers>(cluster, efficiency);
}

}  // namespace crossover::benchmarks
