#include "extender/gang/grants.h"

#include <algorithm>

#include "common/base/names.h"
#include "extender/placement/memory.h"

namespace crossover::extender {

placement::Bytes ToGrant(const GangStore& store, const GangRecord& gang) {
  if (gang.granted) return *gang.granted;
  const std::vector<const Pod*> pods = PodsOf(store, gang);
  if (pods.empty()) return 0;
  const Request request = RequestOf(gang.membership, pods, std::max(1, gang.membership.size), *store.cache);
  return request.names_memory ? 0 : placement::CapOf(request.gang, store.settings.placement);
}

std::optional<ShrinkChosen> LevelOn(const Pod& pod) {
  const auto* row = base::ShrinkChoiceOf(AnnotationOf(pod, base::kShrinkChoiceAnnotation).c_str());
  if (row == nullptr) return std::nullopt;
  return ShrinkChosen{row->choice, AnnotationOf(pod, base::kShrinkWhyAnnotation)};
}

std::optional<ShrinkChosen> LevelFor(const GangStore& store, const GangRecord& gang) {
  if (gang.chosen) return gang.chosen;
  for (const Pod* pod : PodsOf(store, gang)) {
    if (pod->over || !LeavesLevelToUs(*pod)) continue;
    if (auto level = LevelOn(*pod)) return level;
  }
  return std::nullopt;
}

void Choose(GangStore& store, GangRecord& gang, const placement::State& state, const Occupant& own,
            std::span<const Occupant> occupants) {
  std::vector<Occupant> others(occupants.begin(), occupants.end());
  std::erase_if(others, [&own](const Occupant& other) { return other.gang->id == own.gang->id; });
  const std::vector<const Pod*> pods = PodsOf(store, gang);
  const JobProfile* profile = pods.empty() ? nullptr : store.cache->FindProfileOf(*pods.front());
  gang.chosen = ChooseShrink({.own = own, .others = others, .nodes = state.nodes, .profile = profile});
  const auto* row = base::ShrinkChoiceOf(base::TextOf(gang.chosen->choice));
  if (row != nullptr) ++store.choices[static_cast<std::size_t>(row - base::kShrinkChoices)];
}

}  // namespace crossover::extender
