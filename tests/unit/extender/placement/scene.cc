#include "tests/unit/extender/placement/scene.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "extender/placement/users.h"
#include "tests/unit/extender/placement/cluster.h"
#include "tests/unit/extender/placement/referee.h"

namespace crossover::placement {
namespace {

constexpr std::size_t kMostGangs = 10;

// A Maker draws a scene by lot.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Scene Make() {
    MakeNodes();
    profile_ = {.source = Source::kMeasured, .compute_s = 0.010, .exposed_s = 0.010 * (1 + Random(4))};
    if (Random(4) == 0) scene_.most_pods = 2 + Random(3);
    const int tries = 14 + Random(14);
    for (int t = 0; t < tries && scene_.state.placed.size() < kMostGangs; ++t) Settle(t);
    scene_.gang = MakeGang("new");
    scene_.gang.rank = Random(8) == 0 ? 0 : 500;
    scene_.gang.preempts = Random(16) > 0;
    return std::move(scene_);
  }

 private:
  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void MakeNodes() {
    scene_.state.nodes = Nodes(2 + Random(2), 2 + Random(3));
    const int slots = 1 + Random(3);
    const bool mixed = Random(4) == 0;
    for (Node& node : scene_.state.nodes) {
      node.one_user = Random(4) == 0;
      if (Random(2) == 0) node.domains = {"rack" + std::to_string(Random(2))};
      node.open = Random(12) > 0;
      for (Gpu& gpu : node.gpus) {
        gpu.slots = slots;
        gpu.healthy = Random(20) > 0;
        gpu.memory = (mixed && Random(3) == 0 ? 40 : 80) * kGib;
      }
    }
  }

  Gang MakeGang(const std::string& id) {
    Gang gang = Job(id, 1 + Random(3));
    gang.gpus_per_pod = 1 + Random(4) / 3;
    gang.space = Random(3) == 0 ? "other" : "team";
    gang.consent = Random(3) == 0 ? Consent::kNamespace : Consent::kCluster;
    gang.exclusive = Random(8) == 0;
    gang.memory_cap = static_cast<Bytes>(5 + Random(30)) * kGib;
    gang.uid = static_cast<std::uint32_t>(1000 + Random(6) / 5);
    if (Random(12) == 0) gang.users = static_cast<Users>(1 + Random(2));
    gang.profile = profile_;
    return gang;
  }

  // Puts a gang on GPUs of its own, or beside others, if the referee finds nothing against it.
  void Settle(int number) {
    static const std::int32_t kRanks[] = {-10, 0, 0, 0, 0, 100, 100, 1000};
    static const Leave kLeaves[] = {Leave::kSpared, Leave::kForbidden, Leave::kNever};
    const std::vector<Placed>& placed = scene_.state.placed;
    Placed newcomer{.gang = MakeGang("g" + std::to_string(number)), .seats = {}};
    newcomer.gang.rank = kRanks[Random(8)];
    newcomer.leave = Random(7) > 0 ? Leave::kMay : kLeaves[Random(3)];
    if (Random(8) > 0) newcomer.started_s = 10 * Random(100);
    if (!placed.empty() && Random(2) == 0) {
      const Placed& host = placed[static_cast<std::size_t>(Random(static_cast<int>(placed.size())))];
      newcomer.gang.pods = host.gang.pods;
      newcomer.gang.gpus_per_pod = host.gang.gpus_per_pod;
      newcomer.seats = host.seats;
    } else {
      newcomer.seats = FreeSeats(newcomer.gang);
    }
    State with = scene_.state;
    with.placed.push_back(newcomer);
    if (static_cast<int>(newcomer.seats.size()) != newcomer.gang.pods || !IsSound(with)) return;
    scene_.state = std::move(with);
    // Some pods of a gang have succeeded, or it is elastic. Another one beside it has the whole set.
    std::vector<Seat>& seats = scene_.state.placed.back().seats;
    if (seats.size() > 1 && Random(4) == 0) seats.pop_back();
  }

  bool IsSound(const State& state) const {
    for (const Node& node : state.nodes) {
      int pods = 0;
      for (const Placed& placed : state.placed) {
        pods += static_cast<int>(std::ranges::count(placed.seats, node.name, &Seat::node));
      }
      if (pods > scene_.most_pods) return false;
    }
    return FaultOf(state, {}, {}, scene_.settings).empty();
  }

  // Returns seats on GPUs that no gang has, as many as there are. Nodes take turns at random.
  std::vector<Seat> FreeSeats(const Gang& gang) {
    std::set<std::string> taken;
    for (const Placed& placed : scene_.state.placed) {
      for (const Seat& seat : placed.seats) taken.insert(seat.gpus.begin(), seat.gpus.end());
    }
    std::vector<Seat> seats;
    std::vector<Node> nodes = scene_.state.nodes;
    std::ranges::shuffle(nodes, random_);
    for (const Node& node : nodes) {
      Seat seat{.node = node.name, .gpus = {}};
      for (const Gpu& gpu : node.gpus) {
        if (taken.contains(gpu.uuid) || static_cast<int>(seats.size()) == gang.pods) continue;
        seat.gpus.push_back(gpu.uuid);
        if (static_cast<int>(seat.gpus.size()) < gang.gpus_per_pod) continue;
        seats.push_back(seat);
        seat.gpus.clear();
      }
    }
    return seats;
  }

  std::mt19937_64 random_;
  Scene scene_;
  Profile profile_;
};

State Without(const State& state, const std::vector<std::string>& victims) {
  State rest = state;
  std::erase_if(rest.placed, [&](const Placed& placed) {
    return std::ranges::find(victims, placed.gang.id) != victims.end();
  });
  return rest;
}

int GpusOf(const Placed& placed) { return static_cast<int>(placed.seats.size()) * placed.gang.gpus_per_pod; }

// Returns the best of all subsets of `candidates` that make room, or nothing. REQUIRES: they are ascending.
std::optional<std::vector<std::string>> BestOf(const Scene& scene,
                                               const std::vector<const Placed*>& candidates) {
  using Rank = std::tuple<std::size_t, double, std::vector<std::string>>;
  std::vector<Rank> all;
  for (std::size_t bits = 1; bits < std::size_t{1} << candidates.size(); ++bits) {
    Rank rank;
    auto& [count, cost, victims] = rank;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if ((bits >> c & 1) == 0) continue;
      ++count;
      cost += GpusOf(*candidates[c]) * (scene.now_s - candidates[c]->started_s.value_or(scene.now_s));
      victims.push_back(candidates[c]->gang.id);
    }
    all.push_back(std::move(rank));
  }
  std::ranges::sort(all);
  for (auto& [count, cost, victims] : all) {
    if (scene.HasPlaceWithout(victims)) return std::move(victims);
  }
  return std::nullopt;
}

}  // namespace

Fitness Scene::Fits() const {
  std::map<std::string, int> pods;
  for (const Placed& placed : state.placed) {
    for (const Seat& seat : placed.seats) ++pods[seat.node];
  }
  const auto fits = [this, pods](const Gang&, int node, std::span<const Planned> planned) -> Fit {
    const auto found = pods.find(state.nodes[static_cast<std::size_t>(node)].name);
    int left = most_pods - (found == pods.end() ? 0 : found->second);
    for (const Planned& change : planned) left -= change.pods;
    return {.pods = std::max(0, left), .ever = most_pods, .why = "it is full"};
  };
  return LimitedByUser(state, fits);
}

Decision Scene::Decide() const { return placement::Decide(state, {gang}, now_s, settings, Fits()); }

bool Scene::HasPlaceWithout(const std::vector<std::string>& victims) const {
  return HasPlace(Without(state, victims), gang, settings, [this](const Node&) { return most_pods; });
}

Scene SceneOf(std::uint64_t seed) { return Maker(seed).Make(); }

Answer AnswerOf(const Scene& scene) {
  Answer answer{.fits = scene.HasPlaceWithout({}), .victims = {}};
  if (answer.fits) return answer;
  std::vector<const Placed*> may, lower;
  for (const Placed& placed : scene.state.placed) {
    if (placed.gang.rank >= scene.gang.rank) continue;
    lower.push_back(&placed);
    if (placed.leave == Leave::kMay && scene.gang.preempts) may.push_back(&placed);
  }
  const auto id = [](const Placed* placed) { return placed->gang.id; };
  std::ranges::sort(may, {}, id);
  std::ranges::sort(lower, {}, id);
  if (auto victims = BestOf(scene, may)) {
    answer.possible = true;
    answer.victims = std::move(*victims);
  } else {
    answer.forbidden = BestOf(scene, lower).has_value();
  }
  return answer;
}

std::string FaultOfPreemption(const Scene& scene, const Preemption& preemption) {
  Decision decision;
  decision.preemption = preemption;
  const std::string fault = FaultOfRoom(scene.state, {scene.gang}, decision, scene.settings);
  if (!fault.empty()) return fault;
  if (!scene.HasPlaceWithout(preemption.victims)) return "victims in vain: there is no place";
  for (std::size_t v = 0; v < preemption.victims.size(); ++v) {
    std::vector<std::string> fewer = preemption.victims;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(v));
    if (scene.HasPlaceWithout(fewer)) return "a victim in vain: " + preemption.victims[v];
  }
  return "";
}

std::string FaultOfAnswer(const Scene& scene, const Answer& answer, const Decision& decision) {
  if (answer.fits) return decision.plans.size() == 1 ? "" : "it is refused, though it has a place";
  if (!decision.plans.empty()) return "it is placed, though it has no place";
  if (!answer.possible) return decision.preemption ? "victims, though none may or can make room" : "";
  if (!decision.preemption) return "no victims, though some could make room";
  const std::string fault = FaultOfPreemption(scene, *decision.preemption);
  if (!fault.empty()) return fault;
  return decision.preemption->victims == answer.victims ? "" : "others than the best victims";
}

Scene LargeScene(std::uint64_t seed, int gangs, int gpus, int gpus_per_pod) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Scene scene{.state = {}, .gang = Job("new", gpus / gpus_per_pod), .settings = {}};
  scene.gang.gpus_per_pod = gpus_per_pod;
  scene.gang.exclusive = true;
  scene.gang.rank = 1000;
  std::vector<Seat> seats;  // of the next set
  int next = 0;             // the GPU that is given out next
  for (int g = 0; g < gangs; ++g) {
    if (g % 2 == 0) {
      seats.clear();
      for (int count = 1 << below(6); count > 0; --count, ++next) {
        const std::string node = "n" + std::to_string(next / 8);
        seats.push_back({.node = node, .gpus = {node + "-" + std::to_string(next % 8)}});
      }
    }
    const std::string id = "g" + std::to_string(g);
    Placed placed{.gang = Job(id, static_cast<int>(seats.size())), .seats = seats};
    placed.started_s = below(1000);
    placed.gang.rank = below(3);
    placed.leave = below(10) > 0 ? Leave::kMay : Leave::kForbidden;
    scene.state.placed.push_back(std::move(placed));
  }
  scene.state.nodes = Nodes(next / 8 + 1, 8);
  for (int g = next % 8; g < 8; ++g) scene.state.nodes.back().gpus.pop_back();
  return scene;
}

}  // namespace crossover::placement
