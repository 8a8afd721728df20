#include "deviceplugin/pods/pod_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace crossover::deviceplugin {

void PodTable::OnList(const nlohmann::json& items) {
  std::vector<Pod> pods;
  for (const nlohmann::json& item : items) {
    if (auto pod = api::ParsePod(item)) pods.push_back(PodOf(*std::move(pod)));
  }
  // The order in which new pods were bound is unknown. A kubelet that starts also takes them in order of
  // creation.
  std::stable_sort(pods.begin(), pods.end(),
                   [](const Pod& a, const Pod& b) { return a.created_s < b.created_s; });
  std::set<std::string> there;
  for (const Pod& pod : pods) there.insert(pod.uid);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(pods_, [&there](const auto& entry) { return there.count(entry.first) == 0; });
    for (Pod& pod : pods) Put(std::move(pod));
  }
  TellOfChange();
}

void PodTable::OnChange(const nlohmann::json& object) {
  auto pod = api::ParsePod(object);
  if (!pod) return;
  {
    const std::lock_guard lock(mutex_);
    Put(PodOf(*std::move(pod)));
  }
  TellOfChange();
}

void PodTable::TellOfChange() const {
  if (on_change_) on_change_();
}

void PodTable::Put(Pod pod) {
  const auto known = pods_.find(pod.uid);
  pod.arrival = known == pods_.end() ? ++arrivals_ : known->second.arrival;
  pods_.insert_or_assign(pod.uid, std::move(pod));
  came_.notify_all();
}

void PodTable::OnDelete(const nlohmann::json& object) {
  const auto pod = api::ParsePod(object);
  if (!pod) return;
  {
    const std::lock_guard lock(mutex_);
    pods_.erase(pod->uid);
  }
  TellOfChange();
}

std::optional<Pod> PodTable::Find(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return std::nullopt;
  return found->second;
}

std::vector<Pod> PodTable::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<Pod> pods;
  for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  return pods;
}

bool PodTable::Expects(std::size_t slots, const Done& done) const {
  return std::any_of(pods_.begin(), pods_.end(), [&](const auto& entry) {
    const Pod& pod = entry.second;
    return !pod.over &&
           std::any_of(pod.containers.begin(), pod.containers.end(), [&](const PodContainer& container) {
             return container.slots == slots && done.count({pod.uid, container.name}) == 0;
           });
  });
}

PodTable::Done PodTable::EverDone(const Done& done) {
  const std::lock_guard lock(mutex_);
  std::erase_if(had_, [this](const auto& entry) { return !pods_.contains(entry.first); });
  had_.insert(done.begin(), done.end());
  return had_;
}

void PodTable::AwaitOne(std::size_t slots, const Done& done, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, patience, [&] { return Expects(slots, done); });
}

std::vector<std::string> PodTable::AssignedTo(std::size_t slots, const Done& done) const {
  std::vector<Pod> pods = All();
  // The kubelet admits pods in the order in which it learns that they are bound, not in order of creation.
  std::sort(pods.begin(), pods.end(), [](const Pod& a, const Pod& b) { return a.arrival < b.arrival; });
  for (const Pod& pod : pods) {
    const auto assignment = AssignmentOf(pod);
    for (const PodContainer& container : pod.containers) {
      const auto assigned = assignment.find(container.name);
      if (pod.over || container.slots != slots || assigned == assignment.end()) continue;
      if (done.count({pod.uid, container.name}) == 0) return assigned->second;
    }
  }
  return {};
}

}  // namespace crossover::deviceplugin
