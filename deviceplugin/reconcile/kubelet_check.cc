#include "deviceplugin/reconcile/kubelet_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/logging/log.h"
#include "common/text/list.h"
#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kUntil[] =
    "; no turns are taken on this GPU while it has more than one of these pods "
    "(docs/operations.md#crossoverkubeletmisplaces)";

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) text::AddTo(&joined, word);
  return joined;
}

template <class T>
bool Among(const std::vector<T>& known, const T& one) {
  return std::find(known.begin(), known.end(), one) != known.end();
}

std::string NamesOf(const std::vector<Pod>& pods, const std::vector<std::string>& uids) {
  std::vector<std::string> names;
  for (const std::string& uid : uids) names.push_back(NameOf(*FindPod(pods, uid)));
  std::sort(names.begin(), names.end());
  return Joined(names);
}

kube::Event About(const Pod& pod, std::string reason, std::string note) {
  return {.regarding = {"Pod", pod.name_space, pod.name, pod.uid},
          .reason = std::move(reason),
          .action = "CompareSlots",
          .note = std::move(note)};
}

}  // namespace

void KubeletCheck::Say(const Drift& drift, const Pod& pod) const {
  const std::string has = " has " + Joined(drift.given) + " and was assigned " + Joined(drift.assigned);
  const std::string why = ": the kubelet chose other GPUs than the scheduler";
  logging::Warn("container " + NameOf(pod) + "/" + drift.container + has + why);
  tell_(About(pod, "OtherGpus", "container " + drift.container + has + why));
}

std::vector<Pod> KubeletCheck::Look(const std::vector<Pod>& pods,
                                    const std::vector<DeviceAllocation>& handed_out, Time now) {
  Found found{.drifts = FindDrift(pods, handed_out),
              .collisions = FindCollisions(pods, handed_out),
              .doubles = FindDuplicates(pods, handed_out)};
  const std::lock_guard lock(mutex_);
  for (const Drift& drift : found.drifts) {
    if (!Among(found_.drifts, drift)) Say(drift, *FindPod(pods, drift.pod_uid));
  }
  std::set<std::string> misplaced;  // pod UIDs
  const auto any_leaves = [&pods](const std::vector<std::string>& uids) {
    return std::any_of(uids.begin(), uids.end(),
                       [&pods](const std::string& uid) { return FindPod(pods, uid)->grace_s.has_value(); });
  };
  const auto has_drifted = [&found](const std::string& uid) {
    return std::any_of(found.drifts.begin(), found.drifts.end(),
                       [&uid](const Drift& drift) { return drift.pod_uid == uid; });
  };
  for (const Collision& collision : found.collisions) {
    // A pod that is on the GPUs of its placement would get the same ones again, so a restart would not help.
    if (has_drifted(collision.pods.back()) && !any_leaves(collision.pods))
      misplaced.insert(collision.pods.back());
    if (Among(found_.collisions, collision)) continue;
    const std::string what = "gpu " + collision.gpu_uuid + " has several ranks of gang " + collision.gang +
                             ": " + NamesOf(pods, collision.pods) + kUntil;
    logging::Error(what);
    tell_(About(*FindPod(pods, collision.pods.back()), "TwoRanksOnOneGpu", what));
  }
  for (const DuplicateAllocation& twice : found.doubles) {
    if (!any_leaves(twice.pods)) misplaced.insert(twice.pods.back());
    if (Among(found_.doubles, twice)) continue;
    const std::string what =
        "slot " + twice.id + " was handed out twice, to " + NamesOf(pods, twice.pods) + kUntil;
    logging::Error(what);
    tell_(About(*FindPod(pods, twice.pods.back()), "SlotHandedOutTwice", what));
  }
  found_ = std::move(found);
  std::vector<Pod> again;
  for (const std::string& uid : misplaced) {
    const Pod& pod = *FindPod(pods, uid);
    if (!pod.controlled || !MayTry(RanksOf(pod), now)) continue;
    again.push_back(pod);
  }
  return again;
}

bool KubeletCheck::MayTry(const std::string& gang, Time now) {
  std::erase_if(restarts_, [now](const auto& entry) { return now - entry.second.seen > kForgetRestarts; });
  Restarts& restarts = restarts_[gang];
  restarts.seen = now;
  if (restarts.count >= kMostRestarts) return false;
  if (restarts.tried && now - *restarts.tried < kBetweenRestarts) return false;
  restarts.tried = now;
  return true;
}

void KubeletCheck::NoteMadeAnew(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  ++restarts_[RanksOf(pod)].count;
}

KubeletCheck::Found KubeletCheck::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

std::map<std::string, std::string> KubeletCheck::held() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> held;
  for (const Collision& collision : found_.collisions)
    held.emplace(collision.gpu_uuid, "two ranks of gang " + collision.gang + " are on it");
  for (const DuplicateAllocation& twice : found_.doubles)
    held.emplace(UuidOfSlot(twice.id), "slot " + twice.id + " was handed out twice");
  return held;
}

}  // namespace crossover::deviceplugin
