// Compares the places of gangs with what a scheduler binds (scheduler.h), for every choice of nodes and every
// order of pods of small clusters.
#include "extender/gang/demands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "extender/gang/snapshot.h"
#include "extender/placement/engine.h"
#include "tests/unit/extender/gang/made_term.h"
#include "tests/unit/extender/gang/scheduler.h"

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;

constexpr char kHost[] = "kubernetes.io/hostname";

// A Cluster holds nodes, pods on them, and a gang "g" whose pods wait.
struct Cluster {
  ClusterCache cache;
  GangStore store;
  std::vector<Node> nodes;
  int pods = 0;

  Cluster() { store.cache = &cache; }
  Cluster(const Cluster&) = delete;

  void PutNode(const std::string& zone, int gpus) {
    Node node;
    node.name = "n" + std::to_string(nodes.size());
    node.labels[kHost] = node.name;
    if (!zone.empty()) node.labels[kZone] = zone;
    node.ready = true;
    nodes.push_back(node);
    cache.Put(node);
    GpuNode with;
    with.name = node.name;
    for (int g = 0; g < gpus; ++g) {
      GpuNode::Gpu gpu;
      gpu.uuid = node.name + "-" + std::to_string(g);
      gpu.slots = 2;
      gpu.healthy = true;
      with.gpus.push_back(std::move(gpu));
    }
    if (gpus > 0) cache.Put(with);
  }
  Pod PodOf(const std::string& uid, const std::string& app) {
    Pod pod;
    pod.uid = pod.name = uid;
    pod.name_space = "team";
    pod.labels["app"] = app;
    pod.containers = {{.name = "main", .slots = 1}};
    return pod;
  }
  void PutOn(Pod pod, const std::string& node) {
    pod.node = node;
    cache.Put(pod);
  }
  void PutWaiting(Pod pod) {
    store.gangs["g"].members[pod.uid];
    cache.Put(pod);
    ++pods;
  }
  std::vector<const Pod*> Waiting() const {
    std::vector<const Pod*> waiting;
    for (const auto& [uid, member] : store.gangs.at("g").members) waiting.push_back(cache.FindPod(uid));
    return waiting;
  }
  placement::Gang GangOf() const {
    placement::Gang gang;
    gang.id = gang.name = "g";
    gang.space = "team";
    gang.pods = pods;
    gang.gpus_per_pod = 1;
    return gang;
  }
  placement::Decision Decide(std::vector<placement::Gang>* waiting) const {
    const placement::State state = SnapshotOf(store);
    SetDivisions(store, state, *waiting);
    return placement::Decide(state, *waiting, 1, {}, FitnessOf(store, state));
  }
};

// Tries every way to bind the pods of the gang that are left.
bool AnyWay(const Cluster& cluster, Scheduler* scheduler, std::map<std::string, int>* gpus,
            std::size_t next) {
  const std::vector<const Pod*> pods = cluster.Waiting();
  if (next == pods.size()) return true;
  for (const Node& node : scheduler->nodes()) {
    if ((*gpus)[node.name] == 0 || !scheduler->Takes(*pods[next], node.name)) continue;
    scheduler->Add(*pods[next], node.name);
    --(*gpus)[node.name];
    const bool all = AnyWay(cluster, scheduler, gpus, next + 1);
    scheduler->Remove();
    ++(*gpus)[node.name];
    if (all) return true;
  }
  return false;
}

Scheduler SchedulerOf(const Cluster& cluster) {
  Scheduler scheduler(cluster.nodes);
  for (const auto& [uid, pod] : cluster.cache.pods()) {
    if (!pod.node.empty()) scheduler.Add(pod, pod.node);
  }
  return scheduler;
}

using Plant = std::function<void(std::vector<std::string>* nodes)>;

// Decides, and returns what is wrong with that, or "".
std::string FaultOf(const Cluster& cluster, bool* placed, const Plant& plant = {}) {
  std::vector<placement::Gang> waiting = {cluster.GangOf()};
  const placement::Decision decision = cluster.Decide(&waiting);
  Scheduler scheduler = SchedulerOf(cluster);
  *placed = !decision.plans.empty();
  if (!*placed) {
    std::map<std::string, int> gpus;
    for (const auto& [name, node] : cluster.cache.gpu_nodes())
      gpus[name] = static_cast<int>(node.gpus.size());
    return AnyWay(cluster, &scheduler, &gpus, 0) ? "there is a way" : "";
  }
  const placement::State state = SnapshotOf(cluster.store);
  std::vector<std::string> nodes;
  std::vector<int> indices;
  for (const placement::Seat& seat : decision.plans.front().seats) {
    nodes.push_back(seat.node);
    const auto node = std::ranges::find(state.nodes, seat.node, &placement::Node::name);
    indices.push_back(static_cast<int>(node - state.nodes.begin()));
  }
  if (plant) plant(&nodes);
  const auto waves = placement::WavesOf(waiting.front().divisions, indices);
  if (!waves) return "it has no waves";
  std::vector<std::size_t> order;
  for (int wave = 0; order.size() < nodes.size(); ++wave) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if ((*waves)[i] == wave) order.push_back(i);
    }
  }
  const std::vector<const Pod*> pods = cluster.Waiting();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& node = nodes[order[i]];
    if (!scheduler.Takes(*pods[i], node)) return "pod " + std::to_string(i) + " is refused on " + node;
    scheduler.Add(*pods[i], node);
  }
  return "";
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  int UpTo(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }
  bool OneOf(int count) { return UpTo(count - 1) == 0; }

 private:
  std::mt19937 random_;
};

kube::PodConstraints MadeConstraints(Random& random) {
  const auto topology = [&] { return random.OneOf(2) ? kHost : kZone; };
  const auto app = [&]() -> std::string { return random.OneOf(3) ? "other" : "train"; };
  kube::PodConstraints made;
  if (random.OneOf(4)) made.ports.push_back({.protocol = "TCP", .ip = "0.0.0.0", .port = 1 + random.UpTo(1)});
  if (random.OneOf(4)) made.apart.push_back(TermOf(topology(), app()));
  if (random.OneOf(5)) made.near.push_back(TermOf(topology(), app()));
  if (random.OneOf(8)) made.near.push_back(TermOf(topology(), app()));
  if (random.OneOf(3)) {
    made.spread.push_back({.topology = topology(),
                           .max_skew = 1 + random.UpTo(1),
                           .min_domains = 1 + (random.OneOf(3) ? random.UpTo(2) : 0),
                           .selector = Meaning(app()),
                           .heeds_selection = !random.OneOf(4)});
  }
  return made;
}

// Returns whether pods of the cluster, or pods like this one, could meet its affinity. If none could, the
// extender leaves it to the scheduler: there may be pods that Crossover does not manage.
bool IsKnown(const Cluster& cluster, const Pod& pod) {
  const auto meets = [&pod](const Pod& other) {
    return other.name_space == pod.name_space &&
           std::ranges::all_of(pod.constraints.near,
                               [&](const auto& term) { return kube::Matches(term.selector, other.labels); });
  };
  return meets(pod) || std::ranges::any_of(cluster.cache.pods(), [&](const auto& entry) {
           const Pod& other = entry.second;
           const Labels& labels = cluster.cache.FindNode(other.node)->labels;
           return meets(other) && std::ranges::any_of(pod.constraints.near, [&](const auto& term) {
                    return labels.contains(term.topology);
                  });
         });
}

void Fill(Cluster* cluster, Random& random) {
  const int nodes = 1 + random.UpTo(4);
  for (int n = 0; n < nodes; ++n) {
    const std::string zone = random.OneOf(9) ? "" : "z" + std::to_string(random.UpTo(1));
    cluster->PutNode(zone, random.UpTo(2));
  }
  const int there = random.UpTo(3);
  for (int p = 0; p < there; ++p) {
    Pod pod = cluster->PodOf("there-" + std::to_string(p), random.OneOf(2) ? "train" : "other");
    pod.deleting = random.OneOf(6);
    if (random.OneOf(6)) pod.name_space = "others";
    if (random.OneOf(2)) pod.constraints = MadeConstraints(random);
    cluster->PutOn(pod, "n" + std::to_string(random.UpTo(nodes - 1)));
  }
  Pod pod = cluster->PodOf("", random.OneOf(4) ? "other" : "train");
  pod.constraints = MadeConstraints(random);
  if (!IsKnown(*cluster, pod)) pod.constraints.near.clear();
  if (random.OneOf(4)) pod.selection.selector = {{kZone, "z0"}};
  const int pods = 1 + random.UpTo(3);
  for (int p = 0; p < pods; ++p) {
    pod.uid = pod.name = "w" + std::to_string(p);
    cluster->PutWaiting(pod);
  }
  // A scheduler also looks at the nodes that the pods may be on.
  cluster->store.fits = [cluster](const Pod& of, const std::string& node, const Resources&) {
    const Node& labelled = *cluster->cache.FindNode(node);
    const bool may = kube::WhyNotSelected(of.selection, node, labelled.labels).empty();
    return may ? placement::FitsAnywhere({}, 0, {})
               : placement::Fit{.pods = 0, .ever = 0, .why = "not selected"};
  };
}

struct GangStats {
  int placed = 0, refused = 0, faults = 0;
  std::string first;  // fault
};

GangStats Try(unsigned seed, int cases, const Plant& plant = {}) {
  Random random(seed);
  GangStats stats;
  for (int i = 0; i < cases; ++i) {
    Cluster cluster;
    Fill(&cluster, random);
    bool placed = false;
    const std::string fault = FaultOf(cluster, &placed, plant);
    ++(placed ? stats.placed : stats.refused);
    stats.faults += fault.empty() ? 0 : 1;
    if (stats.first.empty() && !fault.empty()) stats.first = "case " + std::to_string(i) + ": " + fault;
  }
  return stats;
}

TEST(DemandsTest, PlacesAreThoseThatASchedulerTakes) {
  const GangStats stats = Try(1, 6'000);
  EXPECT_EQ(stats.faults, 0) << stats.first;
  EXPECT_GT(stats.placed, 1'500);
  EXPECT_GT(stats.refused, 1'500);
}

TEST(DemandsTest, TheRefereeSeesPlantedFaults) {
  EXPECT_GT(Try(2, 1'000, [](auto* nodes) { std::ranges::fill(*nodes, nodes->front()); }).faults, 20)
      << "all pods on one node";
  EXPECT_GT(Try(2, 1'000, [](auto* nodes) { std::ranges::fill(*nodes, "n0"); }).faults, 20)
      << "a node that may be closed to them";
}

}  // namespace
}  // namespace crossover::extender
