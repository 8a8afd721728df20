#include "extender/gang/removal.h"

#include <algorithm>
#include <map>
#include <vector>

#include "common/base/refusal.h"
#include "common/text/list.h"

namespace crossover::extender {
namespace {

constexpr int kMostRetryDoublings = 10;  // of the pause between two tries

// Returns whether the API server asks budgets about the eviction of the pod. A pod whose binding the watch
// does not show yet may run.
bool Counts(const Pod& pod) { return (pod.running || pod.node.empty()) && !pod.over && !pod.deleting; }

std::vector<const Budget*> BudgetsOf(const ClusterCache& cache, const Pod& pod) {
  std::vector<const Budget*> budgets;
  for (const auto& [name, budget] : cache.budgets()) {
    if (budget.name_space == pod.name_space && kube::Matches(budget.selector, pod.labels))
      budgets.push_back(&budget);
  }
  return budgets;
}

std::string NameOf(const Budget& budget) { return budget.name_space + "/" + budget.name; }

std::string Pods(int count) { return std::to_string(count) + (count == 1 ? " pod" : " pods"); }

// Returns the bound members that are not evicted yet.
std::vector<std::string> NotEvicted(const GangStore& store, const GangRecord& gang) {
  std::vector<std::string> left;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (view.bound() && !view.pod->deleting && !IsAccepted(member.eviction)) left.push_back(uid);
  }
  return left;
}

// Takes back what was not begun. Returns whether no eviction is in flight.
bool Keep(GangRecord& gang, const std::vector<std::string>& left) {
  bool settled = true;
  for (const std::string& uid : left) {
    Member& member = gang.members.at(uid);
    if (member.in_flight == 0) {
      member.Note(EvictionEvent::kTakenBack);
    } else if (member.eviction == Eviction::kBegun) {
      settled = false;
    }
  }
  return settled;
}

}  // namespace

std::string WhyForbidden(const ClusterCache& cache, std::span<const Pod* const> pods) {
  std::map<const Budget*, int> wanted;
  for (const Pod* pod : pods) {
    if (!Counts(*pod)) continue;
    const std::vector<const Budget*> budgets = BudgetsOf(cache, *pod);
    if (budgets.size() > 1) {
      std::string names;
      for (const Budget* budget : budgets) text::AddTo(&names, NameOf(*budget));
      return base::Refusal("the disruption budgets of pod " + pod->name,
                           "one, which is all that evictions support", names);
    }
    for (const Budget* budget : budgets) ++wanted[budget];
  }
  for (const auto& [name, budget] : cache.budgets()) {
    const auto count = wanted.find(&budget);
    if (count == wanted.end() || count->second <= budget.allowed) continue;
    return base::Refusal("the disruption budget " + NameOf(budget),
                         "that it allows the eviction of " + Pods(count->second), Pods(budget.allowed));
  }
  return "";
}

bool Remove(GangStore& store, GangRecord& gang) {
  const std::vector<std::string> left = NotEvicted(store, gang);
  if (gang.removal.state == RemovalState::kNone && !left.empty()) {
    std::vector<const Pod*> pods;
    for (const std::string& uid : left) pods.push_back(store.cache->FindPod(uid));
    const std::string why = WhyForbidden(*store.cache, pods);
    gang.removal.state = RemovalState::kEvicting;
    if (!why.empty()) Forbid(store, gang, why);
  }
  if (gang.removal.state == RemovalState::kForbidden) return Keep(gang, left);
  for (const std::string& uid : left) {
    gang.members.at(uid).Note(EvictionEvent::kBegun);
    store.Begin(gang, uid, Action::Kind::kEvict, "", "");
  }
  if (!left.empty()) return false;
  gang.removal = {};
  return true;
}

void Forbid(GangStore& store, GangRecord& gang, const std::string& why) {
  Removal& removal = gang.removal;
  if (removal.state != RemovalState::kEvicting) return;
  removal.state = RemovalState::kForbidden;
  removal.why = why;
  const int doublings = std::min(removal.refusals++, kMostRetryDoublings);
  removal.retry_s = store.now_s + std::min(store.settings.most_retry_evict_s,
                                           store.settings.retry_evict_s * (1 << doublings));
}

std::string WhyTheyStay(const GangRecord& gang) {
  return gang.removal.why.empty() ? "" : "the bound pods of the gang stay: " + gang.removal.why;
}

}  // namespace crossover::extender
