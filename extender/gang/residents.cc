#include "extender/gang/residents.h"

#include <algorithm>

namespace crossover::extender {

Residents::Residents(const GangStore& store) {
  for (const auto& [uid, pod] : store.cache->pods()) {
    if (pod.node.empty() || pod.over) continue;
    const auto gang = store.gang_of.find(uid);
    Add(pod, pod.node, gang == store.gang_of.end() ? "" : gang->second);
  }
  for (const auto& [id, gang] : store.gangs) {
    if (!gang.plan) continue;
    for (const PlanEntry& entry : gang.plan->entries) {
      const Pod* pod = entry.uid.empty() ? nullptr : store.cache->FindPod(entry.uid);
      if (pod != nullptr && pod->node.empty() && !pod->over) Add(*pod, entry.seat.node, id);
    }
  }
}

void Residents::Add(const Pod& pod, const std::string& node, const std::string& gang) {
  const Resident resident{&pod, node, gang};
  by_namespace_[pod.name_space].push_back(resident);
  if (!pod.constraints.ports.empty()) with_ports_.push_back(resident);
  if (pod.constraints.apart.empty()) return;
  std::vector<std::size_t>& known = aloof_of_[pod.name_space + "/" + gang];
  const auto same = std::ranges::find_if(
      known, [&](std::size_t i) { return aloof_[i].pod->constraints.apart == pod.constraints.apart; });
  if (same == known.end()) {
    known.push_back(aloof_.size());
    aloof_.push_back({&pod, {resident}});
  } else {
    aloof_[*same].residents.push_back(resident);
  }
}

}  // namespace crossover::extender
