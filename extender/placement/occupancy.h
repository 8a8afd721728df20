// Keeps which gangs are on which GPUs: a State, with indices instead of names, and what is planned on top of
// it.
//
// Gangs on one identical set of GPUs form a Group. A group is shut if its set overlaps another set, because a
// kubelet gave out GPUs against the plan. It is also shut if some of its GPUs are gone, unhealthy or on a
// closed node. The gangs of a shut group stay, and no gang may join them.
//
//   node        n0              n1              n2
//   GPUs        0   1   2   3   0   1   2   3   0   1   2
//   group 0     A   A
//   group 1             BC  BC  BC  BC                      gangs B and C have the same four GPUs
//   group 2                             D   D
//   group 3                                     E   E       shut: it overlaps group 4
//   group 4                                         F   F   shut: it overlaps group 3
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

// A GpuRef names a GPU by its indices in State::nodes and Node::gpus.
struct GpuRef {
  int node;
  int gpu;
  auto operator<=>(const GpuRef&) const = default;
};

// An OnNode says how many GPUs of a set are on one node.
struct OnNode {
  int node;
  int gpus;
};

struct Group {
  std::vector<const Gang*> gangs;
  std::vector<GpuRef> gpus;       // ascending
  std::vector<OnNode> by_node{};  // ascending by node
  GpuSetSpec site;
  bool shut = false;

  bool Has(GpuRef ref) const { return std::ranges::binary_search(gpus, ref); }
};

// Returns the GPUs of `seats` that exist in `state`, ascending.
std::vector<GpuRef> RefsOf(const State& state, std::span<const Seat> seats);

// A Planned says how many pods of a gang this decision puts on a node. If it is negative, this many leave.
struct Planned {
  const Gang* gang = nullptr;
  int pods = 0;
};

// An Occupancy can be copied to try a change on the copy. It keeps pointers to the State and to all gangs
// that are passed in, which must outlive it.
class Occupancy {
 public:
  // Begins with the placed gangs of `state`, and with no GPU kept.
  explicit Occupancy(const State& state);

  // REQUIRES, for all functions: indices are those of nodes and GPUs of the State.
  const State& state() const { return *state_; }
  const Node& node(int index) const { return state_->nodes[static_cast<std::size_t>(index)]; }
  const Gpu& gpu(GpuRef ref) const { return node(ref.node).gpus[static_cast<std::size_t>(ref.gpu)]; }
  std::span<const Group> groups() const { return groups_; }
  // Returns what was opened, joined, claimed and removed on the node since the constructor.
  std::span<const Planned> planned(int node) const { return planned_[static_cast<std::size_t>(node)]; }

  // Returns whether a gang has the GPU.
  bool Busy(GpuRef ref) const { return At(ref).gangs > 0; }
  bool IsReserved(GpuRef ref) const { return At(ref).kept; }
  // Returns whether the GPU is healthy, on an open node, has slots, has no gang on it and is not kept.
  bool Free(GpuRef ref) const;
  // Returns the number of GPUs that are Free().
  int free_gpus() const;
  // Returns whether no gang may join the group: it is shut, or some of its GPUs are kept.
  bool Closed(const Group& group) const;
  // Returns whether the gang with this id has GPUs.
  bool Holds(const std::string& gang) const { return held_.contains(gang); }

  // Adds a new group with one gang, and returns its index. REQUIRES: the GPUs are free.
  int Open(const Gang& gang, std::vector<GpuRef> gpus);
  // Adds `gang` to the group with this index. REQUIRES: it may join (WhyNotJoin() in join_rules.h).
  void Join(int group, const Gang& gang);
  // Takes these gangs off their GPUs. Indices of groups change. REQUIRES: they are gangs of the State.
  void Remove(std::span<const Gang* const> gangs);
  // Keeps these GPUs: from now on they are not free, and no gang may join a group that has one of them.
  void Keep(std::span<const GpuRef> gpus);
  // Keeps these GPUs, and counts the gang's pods as planned on their nodes.
  void Claim(const Gang& gang, std::span<const GpuRef> gpus);

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
  GpuSetSpec SiteOf(std::span<const GpuRef> gpus) const;
  void Plan(const Gang& gang, const Group& group, int sign);
  void ShutGroups();

  const State* state_;
  std::vector<std::vector<Use>> use_;
  std::vector<std::vector<Planned>> planned_;
  std::vector<Group> groups_;
  std::set<std::string_view> held_;
  std::set<const Gang*> torn_;  // gangs that lack some of their GPUs
};

}  // namespace crossover::placement
