#include "extender/gang/tally.h"

#include <algorithm>

namespace crossover::extender {
namespace {

struct Pods {
  int waiting = 0, bound = 0, there = 0;
  double last_s = 0;  // when the newest waiting pod was created
};

Pods Count(const Desk& desk, const GangRecord& gang) {
  Pods pods;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(desk, gang, uid);
    if (!view.living()) continue;
    ++pods.there;
    pods.bound += view.bound() ? 1 : 0;
    if (!view.waiting()) continue;
    ++pods.waiting;
    pods.last_s = std::max(pods.last_s, view.pod->created_s);
  }
  return pods;
}

int Reserved(const Desk& desk, const GangRecord& gang) {
  if (!gang.plan || gang.plan->failing) return 0;
  return static_cast<int>(std::ranges::count_if(gang.plan->slots, [&](const Slot& slot) {
    return gang.members.contains(slot.uid) && ViewOf(desk, gang, slot.uid).waiting();
  }));
}

Wait WaitOf(const Desk& desk, const GangRecord& gang, const Pods& pods) {
  if (!gang.membership.fault.empty() || !gang.fault.empty()) return Wait::kCorrection;
  if (gang.membership.size == 0) return Wait::kSize;
  if (pods.waiting < gang.membership.size) return Wait::kPods;
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
  for (const auto& [id, gang] : desk.gangs) {
    const Pods pods = Count(desk, gang);
    if (pods.there == 0) continue;
    tally.reservations += Reserved(desk, gang);
    if (pods.bound > 0) {
      ++tally.running;
      tally.lacking += pods.waiting > 0 && !gang.plan ? 1 : 0;
    } else if (gang.plan) {
      ++tally.placing;
    } else {
      const Wait wait = WaitOf(desk, gang, pods);
      ++tally.waiting[static_cast<std::size_t>(wait)];
      const bool complete = wait == Wait::kHoldOff || wait == Wait::kPlace;
      const double since_s = gang.complete_s > 0 ? gang.complete_s : pods.last_s;
      if (complete && (tally.oldest_s == 0 || since_s < tally.oldest_s)) tally.oldest_s = since_s;
    }
  }
  return tally;
}

}  // namespace crossover::extender
