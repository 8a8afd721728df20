#include "extender/placement/replace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "extender/placement/fill.h"
#include "extender/placement/memory.h"

namespace crossover::placement {
namespace {

class Finder {
 public:
  Finder(const State& state, const Placed& placed, std::span<const int> vacant, const Settings& settings,
         const Fitness& fitness)
      : state_(state), gang_(placed.gang), settings_(settings), fitness_(fitness), occupancy_(state) {
    for (int i = 0; i < static_cast<int>(placed.seats.size()); ++i) {
      const Seat& seat = placed.seats[static_cast<std::size_t>(i)];
      (std::ranges::count(vacant, i) > 0 ? vacant_ : taken_).push_back(seat);
    }
    for (const Seat& seat : placed.seats) {
      for (const GpuRef ref : RefsOf(state, {&seat, 1})) told_.push_back(ref);
    }
    std::ranges::sort(told_);
    FindPeers();
  }

  Replacement Run() {
    int lacking = gang_.pods - static_cast<int>(taken_.size() + vacant_.size());
    for (const Seat& seat : vacant_) lacking += !Again(seat);
    if (peers_.empty()) {
      for (const int node : Nearest()) TakeFrom(node, FreeOn(node), lacking);
    } else {
      for (int node = 0; node < Nodes(); ++node) TakeFrom(node, LeftOn(node), lacking);
    }
    if (lacking > 0) return {.seats = {}, .refusal = Refuse(lacking)};
    return {.seats = std::move(seats_), .refusal = std::nullopt};
  }

 private:
  int Nodes() const { return static_cast<int>(state_.nodes.size()); }

  // Those that have one of its GPUs, too.
  void FindPeers() {
    for (const Group& group : occupancy_.groups()) {
      if (std::ranges::none_of(told_, [&](GpuRef ref) { return group.Has(ref); })) continue;
      for (const Gang* gang : group.gangs) {
        if (gang->id != gang_.id) peers_.push_back(gang);
      }
    }
  }

  bool IsPeer(const Gang* gang) const { return gang->id == gang_.id || std::ranges::count(peers_, gang) > 0; }

  // What is in the way of having a GPU with the peers, or "".
  std::string FaultOf(GpuRef ref) const {
    const Gpu& gpu = occupancy_.gpu(ref);
    const std::array self{&gang_};
    Bytes memory = CapOf(gang_, settings_) > 0 || !peers_.empty() ? MemoryOf(self, settings_) : 0;
    memory += MemoryOf(peers_, settings_);
    if (!gpu.healthy) return "GPU " + gpu.uuid + " is not healthy";
    if (gpu.slots <= static_cast<int>(peers_.size())) return "GPU " + gpu.uuid + " has too few slots";
    if (gpu.memory < memory) return "GPU " + gpu.uuid + " has too little memory";
    const bool others = std::ranges::any_of(peers_, [&](const Gang* peer) { return peer->uid != gang_.uid; });
    if (others && occupancy_.node(ref.node).one_user) return "GPU " + gpu.uuid + " serves one user ID alone";
    for (const Group& group : occupancy_.groups()) {
      if (!group.Has(ref)) continue;
      if (!std::ranges::all_of(group.gangs, [&](const Gang* gang) { return IsPeer(gang); })) {
        return "GPU " + gpu.uuid + " was given to another job";
      }
    }
    return {};
  }

  // What is in the way of one more pod on a node, or "".
  std::string FaultOf(int index) const {
    const Node& node = occupancy_.node(index);
    if (!node.open) return "node " + node.name + " is closed to new pods";
    const Fit fit = fitness_(gang_, index, {});
    const auto planned = planned_.find(index);
    const int pods = planned == planned_.end() ? 0 : planned->second;
    return fit.never || fit.pods <= pods ? "node " + node.name + ": " + fit.why : "";
  }

  // The same seat, if it will do.
  bool Again(const Seat& seat) {
    const std::vector<GpuRef> refs = RefsOf(state_, {&seat, 1});
    std::string fault;
    if (refs.empty() || refs.size() != seat.gpus.size()) {
      fault = "GPUs of node " + seat.node + " are gone";
    } else {
      fault = FaultOf(refs.front().node);
      for (const GpuRef ref : refs) {
        if (fault.empty()) fault = FaultOf(ref);
      }
    }
    if (why_.empty()) why_ = fault;
    if (!fault.empty()) return false;
    Take(refs.front().node, refs);
    return true;
  }

  void Take(int node, std::span<const GpuRef> refs) {
    for (const Seat& seat : SeatsOn(state_, refs, gang_.gpus_per_pod)) seats_.push_back(seat);
    ++planned_[node];
  }

  void TakeFrom(int node, const std::vector<GpuRef>& refs, int& lacking) {
    const auto each = static_cast<std::size_t>(gang_.gpus_per_pod);
    for (std::size_t i = 0; lacking > 0 && i + each <= refs.size() && FaultOf(node).empty(); i += each) {
      Take(node, std::span(refs).subspan(i, each));
      --lacking;
    }
  }

  std::vector<GpuRef> Those(int node, const auto& wanted) const {
    std::vector<GpuRef> refs;
    for (int g = 0; g < static_cast<int>(occupancy_.node(node).gpus.size()); ++g) {
      if (wanted(GpuRef{node, g}) && FaultOf(GpuRef{node, g}).empty()) refs.push_back({node, g});
    }
    return refs;
  }
  std::vector<GpuRef> FreeOn(int node) const {
    const bool others = state_.kept && state_.kept->gang != gang_.id;
    const std::vector<GpuRef> kept = others ? RefsOf(state_, state_.kept->gpus) : std::vector<GpuRef>{};
    return Those(node,
                 [&](GpuRef ref) { return occupancy_.Free(ref) && !std::ranges::binary_search(kept, ref); });
  }
  // Of the GPUs that its peers have, those that it has not.
  std::vector<GpuRef> LeftOn(int node) const {
    return Those(node,
                 [&](GpuRef ref) { return occupancy_.Busy(ref) && !std::ranges::binary_search(told_, ref); });
  }

  // How many topology labels it shares with a node where the gang is; more than any for such a node itself.
  std::size_t NearnessOf(const Node& node) const {
    std::size_t nearest = 0;
    for (const Seat& seat : taken_) {
      if (seat.node == node.name) return std::numeric_limits<std::size_t>::max();
      const auto other = std::ranges::find(state_.nodes, seat.node, &Node::name);
      if (other == state_.nodes.end()) continue;
      const auto [mine, its] = std::ranges::mismatch(node.domains, other->domains);
      nearest = std::max(nearest, static_cast<std::size_t>(mine - node.domains.begin()));
    }
    return nearest;
  }

  // The nearest nodes first, and of these the ones with the fewest free GPUs.
  std::vector<int> Nearest() const {
    std::vector<std::tuple<std::size_t, std::size_t, int>> ranked;
    for (int node = 0; node < Nodes(); ++node) {
      const std::size_t far = ~NearnessOf(occupancy_.node(node));
      ranked.emplace_back(far, FreeOn(node).size(), node);
    }
    std::ranges::sort(ranked);
    std::vector<int> nodes;
    for (const auto& [far, free, node] : ranked) nodes.push_back(node);
    return nodes;
  }

  Refusal Refuse(int lacking) const {
    std::string text = "lacks " + std::to_string(lacking) + (lacking == 1 ? " pod" : " pods");
    if (!why_.empty()) text += "; " + why_;
    if (peers_.empty()) {
      text += "; no node has " + std::to_string(gang_.gpus_per_pod) + " free GPUs that fit";
      return {gang_.id, Reason::kFull, text};
    }
    const Gang& peer = *peers_.front();
    text += "; beside " + (peer.space == gang_.space ? peer.name : "another job") +
            " it needs the very GPUs that it had";
    return {gang_.id, Reason::kScattered, text};
  }

  const State& state_;
  const Gang& gang_;
  const Settings& settings_;
  const Fitness& fitness_;
  Occupancy occupancy_;
  std::vector<Seat> taken_;   // with a pod
  std::vector<Seat> vacant_;  // without
  std::vector<GpuRef> told_;  // of both, ascending
  std::vector<const Gang*> peers_;
  std::vector<Seat> seats_;  // found
  std::map<int, int> planned_;
  std::string why_;  // the first vacant seat is none any more
};

}  // namespace

Replacement Replace(const State& state, const std::string& gang, std::span<const int> vacant,
                    const Settings& settings, const Fitness& fitness) {
  const auto refuse = [&](const std::string& text) {
    return Replacement{.seats = {}, .refusal = Refusal{gang, Reason::kMalformed, text}};
  };
  const auto placed = std::ranges::find_if(state.placed, [&](const Placed& p) { return p.gang.id == gang; });
  if (placed == state.placed.end()) return refuse("it has no GPUs: it waits like a new one");
  if (std::string fault = Malformed(placed->gang); !fault.empty()) return refuse(fault);
  const int seats = static_cast<int>(placed->seats.size());
  for (const int place : vacant) {
    if (place < 0 || place >= seats || std::ranges::count(vacant, place) > 1) {
      return refuse("seat " + std::to_string(place) + " is not one of its " + std::to_string(seats));
    }
  }
  if (static_cast<int>(vacant.size()) == seats)
    return refuse("none of its pods is left: it waits like a new one");
  if (seats > placed->gang.pods) return refuse("it has more seats than pods");
  return Finder(state, *placed, vacant, settings, fitness).Run();
}

}  // namespace crossover::placement
