#include "extender/placement/allocator.h"

#include <algorithm>
#include <array>
#include <set>

#include "extender/placement/memory.h"
#include "extender/placement/sets.h"

namespace crossover::placement {
namespace {

Wanted WantedBy(std::vector<const Gang*> gangs, const Settings& settings) {
  Wanted wanted{.gangs = std::move(gangs)};
  wanted.slots = static_cast<int>(wanted.gangs.size());
  const Gang& first = *wanted.gangs.front();
  if (wanted.gangs.size() > 1 || CapOf(first, settings) > 0) {
    wanted.memory = MemoryOf(wanted.gangs, settings);
  }
  const bool several = wanted.gangs.size() > 1;
  wanted.many_users = several && std::ranges::any_of(wanted.gangs, [&](const Gang* gang) {
                        return gang->uid != first.uid || gang->users != Users::kOne;
                      });
  return wanted;
}

// Adds the other GPUs of those nodes on which the gang's pods have to be the only ones. If other gangs could
// still get these GPUs, such a node would never be empty.
void AddWhatMustBeEmpty(const Occupancy& occupancy, const Gang& gang, std::vector<GpuRef>* gpus) {
  if (gang.users == Users::kOne) return;
  std::set<int> nodes;
  for (const GpuRef ref : *gpus) {
    if (occupancy.node(ref.node).one_user) nodes.insert(ref.node);
  }
  std::erase_if(*gpus, [&](GpuRef ref) { return nodes.contains(ref.node); });
  for (const int node : nodes) {
    for (int g = 0; g < static_cast<int>(occupancy.node(node).gpus.size()); ++g) gpus->push_back({node, g});
  }
  std::ranges::sort(*gpus);
}

}  // namespace

bool Allocator::Open(const Gang& gang, const Gang* with) {
  std::vector<const Gang*> gangs{&gang};
  if (with != nullptr) gangs.push_back(with);
  if (gang.gpus() > occupancy_.free_gpus()) return false;
  std::vector<GpuRef> gpus = FindFree(occupancy_, WantedBy(gangs, context_->settings), context_->fitness);
  if (gpus.empty()) return false;
  const std::array alone{&gang};
  steps_.push_back({&gang, gpus, {}, Predict(alone, false, context_->settings.efficiency)});
  occupancy_.Open(gang, std::move(gpus));
  return true;
}

bool Allocator::Join(const Gang& gang, int index) {
  const Group& group = occupancy_.groups()[static_cast<std::size_t>(index)];
  Prediction prediction;
  if (WhyNotJoin(occupancy_, group, gang, *context_, &prediction)) return false;
  steps_.push_back({&gang, group.gpus, group.gangs, std::move(prediction)});
  occupancy_.Join(index, gang);
  return true;
}

bool Allocator::JoinBest(const Gang& gang) {
  int best = -1;
  double most = 0;
  for (int g = 0; g < static_cast<int>(occupancy_.groups().size()); ++g) {
    const Group& group = occupancy_.groups()[static_cast<std::size_t>(g)];
    if (static_cast<int>(group.gpus.size()) != gang.gpus()) continue;
    if (static_cast<int>(group.gangs.size()) >= group.site.slots) continue;
    Prediction together;
    if (WhyNotJoin(occupancy_, group, gang, *context_, &together)) continue;
    const double before = Expect(group.gangs, group.site.spans, context_->history, context_->settings).gain;
    if (together.gain - before <= most) continue;
    most = together.gain - before;
    best = g;
  }
  return best >= 0 && Join(gang, best);
}

std::vector<GpuRef> Allocator::Keep(const Gang& gang, double busy_part) {
  Wanted wanted = WantedBy({&gang}, context_->settings);
  std::vector<GpuRef> gpus;
  const std::optional<Reserved>& before = occupancy_.state().kept;
  if (before && before->gang == gang.id) {
    wanted.among = RefsOf(occupancy_.state(), before->gpus);
    gpus = FindEver(occupancy_, wanted, context_->fitness);
    wanted.among.clear();
  }
  if (gpus.empty()) gpus = FindEver(occupancy_, wanted, context_->fitness);
  AddWhatMustBeEmpty(occupancy_, gang, &gpus);
  const auto busy = std::ranges::count_if(gpus, [&](GpuRef ref) { return occupancy_.Busy(ref); });
  if (static_cast<double>(busy) > busy_part * static_cast<double>(gpus.size())) return {};
  occupancy_.Keep(gpus);
  return gpus;
}

std::vector<Seat> SeatsOn(const State& state, std::span<const GpuRef> gpus, int gpus_per_pod) {
  const auto domains = [&state](GpuRef ref) -> const std::vector<std::string>& {
    return state.nodes[static_cast<std::size_t>(ref.node)].domains;
  };
  std::vector<GpuRef> in_order(gpus.begin(), gpus.end());
  std::ranges::stable_sort(in_order, [&](GpuRef a, GpuRef b) { return domains(a) < domains(b); });
  std::vector<Seat> seats;
  for (const GpuRef ref : in_order) {
    const Node& node = state.nodes[static_cast<std::size_t>(ref.node)];
    const bool full = seats.empty() || seats.back().node != node.name ||
                      static_cast<int>(seats.back().gpus.size()) == gpus_per_pod;
    if (full) seats.push_back({.node = node.name, .gpus = {}});
    seats.back().gpus.push_back(node.gpus[static_cast<std::size_t>(ref.gpu)].uuid);
  }
  return seats;
}

}  // namespace crossover::placement
