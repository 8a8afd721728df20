#include "deviceplugin/reductions/silent.h"

#include "common/base/names.h"
#include "common/base/shrink_choice.h"

namespace crossover::deviceplugin {

std::optional<base::ShrinkLevel> NarrowsFor(const Pod& pod) {
  const base::ShrinkLevelName* asked = base::ShrinkLevelOf(pod.Annotation(base::kShrinkAnnotation).c_str());
  if (asked == nullptr || !base::Narrows(asked->level)) return std::nullopt;
  if (asked->level != base::ShrinkLevel::kAuto) return asked->level;
  const auto* chosen = base::ShrinkChoiceOf(pod.Annotation(base::kShrinkChoiceAnnotation).c_str());
  if (chosen == nullptr || chosen->choice.level == base::ShrinkLevel::kOff) return std::nullopt;
  return asked->level;
}

std::vector<SilentClient> SilentAmong(const std::vector<RankView>& ranks, const std::vector<Pod>& pods) {
  std::vector<SilentClient> silent;
  for (const RankView& rank : ranks) {
    if (rank.told_of_reductions || rank.calls == nullptr || rank.calls->empty()) continue;
    const Pod* pod = FindLiving(pods, rank.member->pod_uid);
    const auto asked = pod == nullptr ? std::nullopt : NarrowsFor(*pod);
    if (asked) silent.push_back({rank.member, *asked});
  }
  return silent;
}

}  // namespace crossover::deviceplugin
