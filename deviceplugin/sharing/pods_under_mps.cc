#include "deviceplugin/sharing/pods_under_mps.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/gpu_phrases.h"
#include "common/base/names.h"
#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {
namespace {

bool IsUnderMps(const DeviceAllocation& entry) {
  return entry.answer.find(base::kMpsDirectory) != std::string::npos;
}

}  // namespace

std::map<std::string, base::WithheldReason> FindOtherSharing(const std::vector<Pod>& pods,
                                                             const std::vector<DeviceAllocation>& handed_out,
                                                             bool mps) {
  const auto reason = mps ? base::Withheld::kStartedWithoutMps : base::Withheld::kStartedUnderMps;
  const char* why = mps ? base::kSaysStartedWithoutMps : " is on it, which is a client of MPS";
  std::map<std::string, base::WithheldReason> others;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr || IsUnderMps(entry) == mps) continue;
    for (const std::string& id : entry.ids)
      others.emplace(UuidOfSlot(id), base::WithheldReason{reason, "pod " + NameOf(*pod) + why});
  }
  return others;
}

std::set<kube::Event> MpsNotices(const std::vector<Pod>& pods,
                                 const std::vector<DeviceAllocation>& handed_out,
                                 const SharingStrategy& strategy) {
  std::set<kube::Event> events;
  const bool gone = strategy.withheld && strategy.withheld->reason == base::Withheld::kMpsGone;
  const bool refused = strategy.withheld && strategy.withheld->reason == base::Withheld::kMpsTakesNone;
  if (!refused && !gone) return events;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr || !IsUnderMps(entry)) continue;
    kube::Event event = {.regarding = {"Pod", pod->name_space, pod->name, pod->uid},
                         .reason = "MpsTakesNoClients",
                         .action = "WithholdSlots",
                         .note = strategy.withheld->text};
    if (gone) {
      event.reason = "MpsGone";
      event.note +=
          ". The clients of MPS in this pod end with the control daemon. A CUDA program that begins now runs "
          "without MPS";
    } else {
      event.note +=
          ". A CUDA program that begins in this pod now fails or hangs. A CUDA program that runs already may "
          "go on";
    }
    events.insert(std::move(event));
  }
  return events;
}

std::set<kube::Event> ShmNotices(const std::vector<Pod>& pods,
                                 const std::vector<DeviceAllocation>& handed_out) {
  std::set<kube::Event> events;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr || !IsUnderMps(entry)) continue;
    for (const PodContainer& container : pod->containers) {
      if (container.name != entry.container || !container.own_shm) continue;
      events.insert({.regarding = {"Pod", pod->name_space, pod->name, pod->uid},
                     .reason = "ShmHidden",
                     .action = "Allocate",
                     .note = "container " + container.name + ": its volume at " + base::kShm +
                             " hides the files of MPS's clients there, and CUDA may fail in the container. "
                             "Delete the pod and make it again"});
    }
  }
  return events;
}

bool AnyUnderMps(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out) {
  return std::any_of(handed_out.begin(), handed_out.end(), [&pods](const DeviceAllocation& entry) {
    return IsUnderMps(entry) && FindLiving(pods, entry.pod_uid) != nullptr;
  });
}

void RecentMpsPods::OnLook(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out,
                           Time now) {
  std::erase_if(lived_, [now](const auto& entry) { return now - entry.second > kKept; });
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod != nullptr && IsUnderMps(entry)) lived_[{"Pod", pod->name_space, pod->name, pod->uid}] = now;
  }
}

std::set<kube::Event> RecentMpsPods::LossNotices(pid_t server) const {
  std::set<kube::Event> events;
  for (const auto& [pod, when] : lived_) {
    events.insert({.regarding = pod,
                   .reason = "MpsServerEnded",
                   .action = "Watch",
                   .note = "MPS's server, process " + std::to_string(server) +
                           " of the node, has ended. CUDA programs of this pod that were clients of this "
                           "server fail. Programs that begin now get another server"});
  }
  return events;
}

}  // namespace crossover::deviceplugin
