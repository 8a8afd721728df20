#include "tests/unit/extender/placement/by_pod.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace crossover::placement {
namespace {

// A Pods holds the pods of a scene, and takes them away one by one.
class Pods {
 public:
  explicit Pods(const Scene& scene) : scene_(scene) {
    for (const Placed& placed : scene.state.placed) {
      for (const Seat& seat : placed.seats) pods_.push_back({&placed, &seat});
    }
  }

  // Finds the node on which the fewest pods have to leave for one pod of the newcomer, and removes these.
  // Returns false if there is no such node.
  bool Settle() {
    std::optional<std::pair<std::size_t, std::vector<std::string>>> best;
    for (const Node& node : scene_.state.nodes) {
      if (!node.open) continue;
      std::vector<std::pair<std::size_t, std::string>> gpus;
      for (const Gpu& gpu : node.gpus) {
        const std::vector<const Pod*> there = On(gpu.uuid);
        const bool may = gpu.healthy && !taken_.contains(gpu.uuid) &&
                         std::ranges::all_of(there, [this](const Pod* pod) { return MayLeave(*pod); });
        if (may) gpus.emplace_back(there.size(), gpu.uuid);
      }
      const auto each = static_cast<std::size_t>(scene_.gang.gpus_per_pod);
      if (gpus.size() < each) continue;
      std::ranges::sort(gpus);
      std::pair<std::size_t, std::vector<std::string>> choice;
      for (std::size_t g = 0; g < each; ++g) {
        choice.first += gpus[g].first;
        choice.second.push_back(gpus[g].second);
      }
      if (!best || choice < *best) best = std::move(choice);
    }
    if (!best) return false;
    for (const std::string& uuid : best->second) {
      for (const Pod* pod : On(uuid)) left_.insert(pod->seat);
      taken_.insert(uuid);
    }
    return true;
  }

  // Returns how many pods of a gang have left.
  std::size_t LeftOf(const Placed& placed) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(placed.seats, [&](const Seat& seat) { return left_.contains(&seat); }));
  }

 private:
  struct Pod {
    const Placed* gang;
    const Seat* seat;
  };

  bool MayLeave(const Pod& pod) const {
    return pod.gang->leave == Leave::kMay && pod.gang->gang.rank < scene_.gang.rank;
  }

  std::vector<const Pod*> On(const std::string& uuid) const {
    std::vector<const Pod*> there;
    for (const Pod& pod : pods_) {
      const bool has = std::ranges::find(pod.seat->gpus, uuid) != pod.seat->gpus.end();
      if (has && !left_.contains(pod.seat)) there.push_back(&pod);
    }
    return there;
  }
  const Scene& scene_;
  std::vector<Pod> pods_;
  std::set<const Seat*> left_;
  std::set<std::string> taken_;  // GPUs of the newcomer
};

}  // namespace

ByPod MakeRoomByPod(const Scene& scene) {
  if (scene.HasPlaceWithout({}) || !scene.gang.preempts) return {};
  Pods pods(scene);
  bool whole = true;
  for (int p = 0; p < scene.gang.pods; ++p) whole &= pods.Settle();
  ByPod result;
  for (const Placed& placed : scene.state.placed) {
    const std::size_t left = pods.LeftOf(placed);
    result.halves += left > 0 && left < placed.seats.size();
    result.in_vain += left > 0 && !whole;
  }
  return result;
}

}  // namespace crossover::placement
