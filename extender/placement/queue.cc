#include "extender/placement/queue.h"

#include <algorithm>
#include <tuple>

namespace crossover::placement {
namespace {

bool CameLater(const Gang* a, const Gang* b) {
  return std::tie(a->arrived_s, a->id) > std::tie(b->arrived_s, b->id);
}

}  // namespace

Queue::Queue(const Occupancy& occupancy, std::span<const Gang* const> waiting, double now_s,
             const Settings& settings)
    : now_s_(now_s), patience_(PatienceOf(occupancy.state(), now_s, settings)) {
  if (occupancy.state().kept) kept_for_ = occupancy.state().kept->gang;
  for (const Gang* gang : waiting) {
    (Starves(*gang) ? starving_ : lines_[gang->priority][gang->space]).push_back(gang);
  }
  std::ranges::sort(starving_, CameLater);
  for (auto& [priority, spaces] : lines_) {
    for (auto& [space, line] : spaces) std::ranges::sort(line, CameLater);
  }
  for (const Group& group : occupancy.groups()) {
    for (const Gang* gang : group.gangs) {
      used_[gang->space] += static_cast<double>(group.gpus.size()) / static_cast<double>(group.gangs.size());
    }
  }
}

const Gang* Queue::Pop(Line& line) {
  while (!line.empty() && taken_.contains(line.back())) line.pop_back();
  return line.empty() ? nullptr : line.back();
}

const Gang* Queue::Next() {
  if (const Gang* gang = Pop(starving_)) {
    starving_.pop_back();
    return gang;
  }
  for (auto& [priority, spaces] : lines_) {
    const Gang* first = nullptr;
    for (auto& [space, line] : spaces) {
      const Gang* gang = Pop(line);
      if (gang == nullptr) continue;
      const auto before = [&](const Gang* a, const Gang* b) {
        const double a_used = used_[a->space], b_used = used_[b->space];
        return a_used != b_used ? a_used < b_used : CameLater(b, a);
      };
      if (first == nullptr || before(gang, first)) first = gang;
    }
    if (first == nullptr) continue;
    spaces[first->space].pop_back();
    return first;
  }
  return nullptr;
}

}  // namespace crossover::placement
