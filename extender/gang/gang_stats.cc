#include "extender/gang/gang_stats.h"

#include <algorithm>

#include "extender/gang/need.h"

namespace crossover::extender {
namespace {

int Reserved(const GangStore& store, const GangRecord& gang) {
  if (!gang.plan || gang.plan->failing()) return 0;
  return static_cast<int>(std::ranges::count_if(gang.plan->entries, [&](const PlanEntry& entry) {
    return gang.members.contains(entry.uid) && ViewOf(store, gang, entry.uid).waiting();
  }));
}

Wait WaitOf(const GangStore& store, const GangRecord& gang, const Head& head) {
  if (!gang.membership.fault.empty() || !gang.fault.empty()) return Wait::kCorrection;
  if (gang.membership.size == 0) return Wait::kSize;
  const int need = NeedOf(store, gang, head);
  if (need == 0 || head.waiting < LeastOf(store, gang, need)) return Wait::kPods;
  return store.now_s < gang.hold_until_s ? Wait::kHoldOff : Wait::kPlace;
}

}  // namespace

const char* NameOf(Wait wait) {
  switch (wait) {
    case Wait::kSize:
      return "size_unknown";
    case Wait::kPods:
      return "incomplete";
    case Wait::kCorrection:
      return "faulty";
    case Wait::kHoldOff:
      return "held_off";
    case Wait::kPlace:
      break;
  }
  return "no_place";
}

GangStats GangStatsOf(const GangStore& store) {
  GangStats stats;
  stats.claims_ended = store.claims_ended;
  stats.gangs_left = store.gangs_left;
  stats.choices = store.choices;
  for (const auto& [id, gang] : store.gangs) {
    const Head head = CountOf(store, gang);
    if (head.living == 0) continue;
    stats.reservations += Reserved(store, gang);
    stats.claims += gang.plan && gang.plan->claim ? 1 : 0;
    if (head.bound + head.leaving > 0) {
      ++stats.running;
      stats.lacking += head.waiting > 0 && !gang.plan ? 1 : 0;
    } else if (gang.plan) {
      ++stats.placing;
    } else {
      const Wait wait = WaitOf(store, gang, head);
      ++stats.waiting[static_cast<std::size_t>(wait)];
      const bool complete = wait == Wait::kHoldOff || wait == Wait::kPlace;
      const double since_s = gang.complete_s > 0 ? gang.complete_s : head.newest_s;
      if (complete && (stats.oldest_s == 0 || since_s < stats.oldest_s)) stats.oldest_s = since_s;
    }
  }
  return stats;
}

}  // namespace crossover::extender
