#include "extender/placement/occupancy.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace crossover::placement {
namespace {

using Names = std::map<std::pair<std::string_view, std::string_view>, GpuRef>;

Names NamesOf(const State& state) {
  Names names;
  for (int n = 0; n < static_cast<int>(state.nodes.size()); ++n) {
    const Node& node = state.nodes[static_cast<std::size_t>(n)];
    for (int g = 0; g < static_cast<int>(node.gpus.size()); ++g) {
      names[{node.name, node.gpus[static_cast<std::size_t>(g)].uuid}] = {n, g};
    }
  }
  return names;
}

// Returns the GPUs of a gang that exist, ascending. Sets `whole` to whether it has any and its seats name
// each of them once and no others.
std::vector<GpuRef> GpusOf(const Placed& placed, const Names& names, bool& whole) {
  std::vector<GpuRef> gpus;
  std::size_t said = 0;
  for (const Seat& seat : placed.seats) {
    said += seat.gpus.size();
    for (const std::string& uuid : seat.gpus) {
      const auto found = names.find({seat.node, uuid});
      if (found != names.end()) gpus.push_back(found->second);
    }
  }
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  whole = gpus.size() == said && !gpus.empty();
  return gpus;
}

}  // namespace

std::vector<GpuRef> RefsOf(const State& state, std::span<const Seat> seats) {
  std::vector<GpuRef> refs;
  for (const Seat& seat : seats) {
    const auto node = std::ranges::find(state.nodes, seat.node, &Node::name);
    if (node == state.nodes.end()) continue;
    for (const std::string& uuid : seat.gpus) {
      const auto gpu = std::ranges::find(node->gpus, uuid, &Gpu::uuid);
      if (gpu == node->gpus.end()) continue;
      const auto n = node - state.nodes.begin(), g = gpu - node->gpus.begin();
      refs.push_back({static_cast<int>(n), static_cast<int>(g)});
    }
  }
  std::ranges::sort(refs);
  return refs;
}

Occupancy::Occupancy(const State& state) : state_(&state), planned_(state.nodes.size()) {
  for (const Node& node : state.nodes) use_.emplace_back(node.gpus.size());
  const Names names = NamesOf(state);
  std::map<std::vector<GpuRef>, std::size_t> by_set;
  for (const Placed& placed : state.placed) {
    bool whole = false;
    std::vector<GpuRef> gpus = GpusOf(placed, names, whole);
    const auto [entry, added] = by_set.try_emplace(gpus, groups_.size());
    if (added) groups_.push_back(GroupOn(gpus));
    Group& group = groups_[entry->second];
    group.gangs.push_back(&placed.gang);
    held_.insert(placed.gang.id);
    if (!whole) torn_.insert(&placed.gang);
    for (const GpuRef ref : gpus) ++At(ref).gangs;
  }
  ShutGroups();
}

void Occupancy::ShutGroups() {
  for (Group& group : groups_) {
    const int gangs = static_cast<int>(group.gangs.size());
    group.shut = std::ranges::any_of(group.gangs, [&](const Gang* gang) { return torn_.contains(gang); });
    for (const GpuRef ref : group.gpus) {
      group.shut |= At(ref).gangs != gangs || !gpu(ref).healthy || !node(ref.node).open;
    }
  }
}

bool Occupancy::Free(GpuRef ref) const {
  return !Busy(ref) && !IsReserved(ref) && gpu(ref).healthy && gpu(ref).slots > 0 && node(ref.node).open;
}

int Occupancy::free_gpus() const {
  int count = 0;
  for (int n = 0; n < static_cast<int>(use_.size()); ++n) {
    for (int g = 0; g < static_cast<int>(use_[static_cast<std::size_t>(n)].size()); ++g)
      count += Free({n, g});
  }
  return count;
}

bool Occupancy::Closed(const Group& group) const {
  return group.shut || std::ranges::any_of(group.gpus, [&](GpuRef ref) { return IsReserved(ref); });
}

int Occupancy::Open(const Gang& gang, std::vector<GpuRef> gpus) {
  std::ranges::sort(gpus);
  groups_.push_back(GroupOn(std::move(gpus)));
  const int index = static_cast<int>(groups_.size()) - 1;
  Join(index, gang);
  return index;
}

void Occupancy::Join(int index, const Gang& gang) {
  Group& group = groups_[static_cast<std::size_t>(index)];
  group.gangs.push_back(&gang);
  held_.insert(gang.id);
  for (const GpuRef ref : group.gpus) ++At(ref).gangs;
  Plan(gang, group, 1);
}

void Occupancy::Plan(const Gang& gang, const Group& group, int sign) {
  for (const auto& [node, count] : group.by_node) {
    planned_[static_cast<std::size_t>(node)].push_back({&gang, sign * count / gang.gpus_per_pod});
  }
}

void Occupancy::Remove(std::span<const Gang* const> gangs) {
  const std::set<const Gang*> leaving(gangs.begin(), gangs.end());
  for (Group& group : groups_) {
    const auto left = std::erase_if(group.gangs, [&](const Gang* gang) {
      if (!leaving.contains(gang)) return false;
      held_.erase(gang->id);
      Plan(*gang, group, -1);
      return true;
    });
    for (const GpuRef ref : group.gpus) At(ref).gangs -= static_cast<int>(left);
  }
  std::erase_if(groups_, [](const Group& group) { return group.gangs.empty(); });
  ShutGroups();
}

void Occupancy::Keep(std::span<const GpuRef> gpus) {
  for (const GpuRef ref : gpus) At(ref).kept = true;
}

void Occupancy::Claim(const Gang& gang, std::span<const GpuRef> gpus) {
  Keep(gpus);
  Plan(gang, GroupOn({gpus.begin(), gpus.end()}), 1);
}

Group Occupancy::GroupOn(std::vector<GpuRef> gpus) const {
  Group group{.gangs = {}, .gpus = std::move(gpus), .site = {}};
  group.site = SiteOf(group.gpus);
  for (const GpuRef ref : group.gpus) {
    if (group.by_node.empty() || group.by_node.back().node != ref.node)
      group.by_node.push_back({ref.node, 0});
    ++group.by_node.back().gpus;
  }
  return group;
}

GpuSetSpec Occupancy::SiteOf(std::span<const GpuRef> gpus) const {
  if (gpus.empty()) return {};
  GpuSetSpec site{.slots = gpu(gpus.front()).slots, .memory = gpu(gpus.front()).memory};
  for (const GpuRef ref : gpus) {
    site.slots = std::min(site.slots, gpu(ref).slots);
    site.memory = std::min(site.memory, gpu(ref).memory);
    site.one_user |= node(ref.node).one_user;
    site.spans |= ref.node != gpus.front().node;
  }
  return site;
}

}  // namespace crossover::placement
