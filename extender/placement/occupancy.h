// Who is on which GPUs: a State by indices, and what is planned on top of it.
//
// Gangs on one identical set of GPUs are a Group. A set that overlaps another one (what a kubelet did,
// against the plan) or that is not all there any more is shut: its gangs stay, and nobody joins them. Copies
// are cheap enough to try something on one. Keeps pointers to the gangs that it is told of.
#pragma once

#include <algorithm>
#include <compare>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "extender/placement/rules.h"

namespace crossover::placement {

struct GpuRef {
  int node = 0;
  int gpu = 0;
  auto operator<=>(const GpuRef&) const = default;
};

struct OnNode {
  int node = 0;
  int gpus = 0;
};

struct Group {
  std::vector<const Gang*> gangs;
  std::vector<GpuRef> gpus;       // ascending
  std::vector<OnNode> by_node{};  // ascending; how many of them each node has
  Site site;
  bool shut = false;

  bool Has(GpuRef ref) const { return std::ranges::binary_search(gpus, ref); }
};

// Those GPUs of seats that are there, ascending.
std::vector<GpuRef> RefsOf(const State& state, std::span<const Seat> seats);

// How many pods of a gang were planned on a node since the State was taken.
struct Planned {
  const Gang* gang = nullptr;
  int pods = 0;
};

class Occupancy {
 public:
  explicit Occupancy(const State& state);

  const State& state() const { return *state_; }
  const Node& node(int index) const { return state_->nodes[static_cast<std::size_t>(index)]; }
  const Gpu& gpu(GpuRef ref) const { return node(ref.node).gpus[static_cast<std::size_t>(ref.gpu)]; }
  std::span<const Group> groups() const { return groups_; }
  std::span<const Planned> planned(int node) const { return planned_[static_cast<std::size_t>(node)]; }

  bool Busy(GpuRef ref) const { return At(ref).gangs > 0; }
  bool Kept(GpuRef ref) const { return At(ref).kept; }
  // Healthy, on an open node, of nobody, and kept for nobody.
  bool Free(GpuRef ref) const;
  int free_gpus() const;
  // Nobody may join: it is shut, or some of its GPUs are kept for another gang.
  bool Closed(const Group& group) const;
  bool Holds(const std::string& gang) const { return held_.contains(gang); }

  // A new group of one, on free GPUs; its index.
  int Open(const Gang& gang, std::vector<GpuRef> gpus);
  void Join(int group, const Gang& gang);
  // From now on nobody gets these GPUs or joins those that have them.
  void Keep(std::span<const GpuRef> gpus);

 private:
  struct Use {
    int gangs = 0;
    bool kept = false;
  };
  const Use& At(GpuRef ref) const {
    return use_[static_cast<std::size_t>(ref.node)][static_cast<std::size_t>(ref.gpu)];
  }
  Use& At(GpuRef ref) { return const_cast<Use&>(std::as_const(*this).At(ref)); }
  Group GroupOn(std::vector<GpuRef> gpus) const;
  Site SiteOf(std::span<const GpuRef> gpus) const;
  void Plan(const Gang& gang, const Group& group);
  void ShutOverlapping();

  const State* state_;
  std::vector<std::vector<Use>> use_;
  std::vector<std::vector<Planned>> planned_;
  std::vector<Group> groups_;
  std::set<std::string_view> held_;
};

}  // namespace crossover::placement
