#include "extender/gang/autoscalers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/kube/json.h"
#include "extender/gang/containers.h"
#include "extender/gang/planner.h"
#include "extender/gang/snapshot.h"

namespace crossover::extender {
namespace {

using nlohmann::json;
using Gpus = std::set<std::pair<std::string_view, std::string_view>>;  // node and UUID

constexpr char kHostLabel[] = "kubernetes.io/hostname";
// The names of these nodes must fit into a pod: an API server takes 1.5 MiB.
constexpr std::size_t kMostAvoided = 2000;

// A Room is a node that takes pods of the gang, as far as an autoscaler can tell.
struct Room {
  std::string host;        // value of the label that Karpenter knows its nodes by
  std::int64_t seats = 0;  // how many pods of the gang have GPUs there
};

// Returns the GPUs that some gang has, is promised, or must get next.
Gpus TakenIn(const placement::State& state, const placement::Reserved* kept) {
  Gpus taken;
  const auto take = [&taken](const std::vector<placement::Seat>& seats) {
    for (const placement::Seat& seat : seats) {
      for (const std::string& gpu : seat.gpus) taken.emplace(seat.node, gpu);
    }
  };
  for (const placement::Placed& placed : state.placed) take(placed.seats);
  if (kept != nullptr) take(kept->gpus);
  return taken;
}

std::string HostOf(const Node* node) {
  if (node == nullptr) return "";
  const auto label = node->labels.find(kHostLabel);
  return label == node->labels.end() ? "" : label->second;
}

bool OthersWait(const GangStore& store, const GangRecord& gang) {
  return std::ranges::any_of(store.gangs, [&](const auto& entry) {
    const GangRecord& other = entry.second;
    return &other != &gang && !other.plan && std::ranges::any_of(other.members, [&](const auto& member) {
      return ViewOf(store, member.first, member.second).waiting();
    });
  });
}

std::vector<Room> RoomsFor(const GangStore& store, const GangRecord& gang, const Pod& pod) {
  const placement::State state = SnapshotOf(store);
  const bool kept = store.kept && store.kept->gang != gang.membership.id;
  const Gpus taken = TakenIn(state, kept ? &*store.kept : nullptr);
  const std::map<std::string, Resources> planned = PlannedOn(store);
  const std::int64_t wanted = std::max(1, GpusWanted(pod));
  const bool alone = !OthersWait(store, gang);
  std::vector<Room> rooms;
  for (const placement::Node& node : state.nodes) {
    const std::string host = HostOf(store.cache->FindNode(node.name));
    if (host.empty()) continue;
    const auto before = planned.find(node.name);
    const Resources sum = before == planned.end() ? Resources{} : before->second;
    const std::int64_t fit = store.fits ? store.fits(pod, node.name, sum).pods : placement::kMostPods;
    if (fit <= 0) continue;
    const std::int64_t free = std::ranges::count_if(node.gpus, [&](const placement::Gpu& gpu) {
      return gpu.healthy && !taken.contains({node.name, gpu.uuid});
    });
    rooms.push_back({host, node.open && alone ? std::min(fit, free / wanted) : 0});
  }
  return rooms;
}

// Returns `preferences` with the demand in each of its terms, and in one more, that the node is none of
// `hosts`. Karpenter heeds the heaviest term first, and drops one term after the other.
std::string Avoiding(const std::string& preferences, const std::vector<std::string>& hosts) {
  const json other = {{"key", kHostLabel}, {"operator", "NotIn"}, {"values", hosts}};
  json terms = preferences.empty() ? json::array() : json::parse(preferences, nullptr, false);
  if (!terms.is_array()) terms = json::array();
  for (json& term : terms) {
    if (!term.is_object() || !kube::At(term, "preference").is_object()) continue;
    json& expressions = term["preference"]["matchExpressions"];
    if (!expressions.is_array()) expressions = json::array();
    expressions.push_back(other);
  }
  terms.push_back({{"weight", 1}, {"preference", {{"matchExpressions", json::array({other})}}}});
  return kube::Dump(terms);
}

}  // namespace

std::map<std::string, std::string> PreferencesOf(const GangStore& store, const GangRecord& gang) {
  std::map<std::string, std::string> preferences;
  const std::vector<std::string> uids = Seatless(store, gang);
  if (uids.empty()) return preferences;
  std::vector<Room> rooms = RoomsFor(store, gang, *store.cache->FindPod(uids.front()));
  for (const std::string& uid : uids) {
    const auto own = std::ranges::find_if(rooms, [](const Room& room) { return room.seats > 0; });
    std::vector<std::string> others;
    for (auto room = rooms.begin(); room != rooms.end() && others.size() < kMostAvoided; ++room) {
      if (room != own) others.push_back(room->host);
    }
    if (own != rooms.end()) --own->seats;
    if (!others.empty()) preferences[uid] = Avoiding(store.cache->FindPod(uid)->preferences, others);
  }
  return preferences;
}

}  // namespace crossover::extender
