#include "extender/gang/tally.h"

#include <algorithm>

#include "extender/gang/need.h"

namespace crossover::extender {
namespace {

int Reserved(const Desk& desk, const GangRecord& gang) {
  if (!gang.plan || gang.plan->failing) return 0;
  return static_cast<int>(std::ranges::count_if(gang.plan->slots, [&](const Slot& slot) {
    return gang.members.contains(slot.uid) && ViewOf(desk, gang, slot.uid).waiting();
  }));
}

Wait WaitOf(const Desk& desk, const GangRecord& gang, const Head& head) {
  if (!gang.membership.fault.empty() || !gang.fault.empty()) return Wait::kCorrection;
  if (gang.membership.size == 0) return Wait::kSize;
  const int need = NeedOf(desk, gang, head);
  if (need == 0 || head.waiting < LeastOf(desk, gang, need)) return Wait::kPods;
  return desk.now_s < gang.hold_until_s ? Wait::kHoldOff : Wait::kPlace;
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

Tally TallyOf(const Desk& desk) {
  Tally tally;
  tally.claims_ended = desk.claims_ended;
  tally.gangs_left = desk.gangs_left;
  for (const auto& [id, gang] : desk.gangs) {
    const Head head = CountOf(desk, gang);
    if (head.living == 0) continue;
    tally.reservations += Reserved(desk, gang);
    tally.claims += gang.plan && gang.plan->claim ? 1 : 0;
    if (head.bound + head.leaving > 0) {
      ++tally.running;
      tally.lacking += head.waiting > 0 && !gang.plan ? 1 : 0;
    } else if (gang.plan) {
      ++tally.placing;
    } else {
      const Wait wait = WaitOf(desk, gang, head);
      ++tally.waiting[static_cast<std::size_t>(wait)];
      const bool complete = wait == Wait::kHoldOff || wait == Wait::kPlace;
      const double since_s = gang.complete_s > 0 ? gang.complete_s : head.newest_s;
      if (complete && (tally.oldest_s == 0 || since_s < tally.oldest_s)) tally.oldest_s = since_s;
    }
  }
  return tally;
}

}  // namespace crossover::extender
