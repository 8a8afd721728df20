// Determines which pods were started as clients of MPS. This follows from the answer that each container
// got with its slots, which is valid as long as the container lives. Pods that have ended, or are gone, do
// not count. Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/withheld.h"
#include "common/kube/events.h"
#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"
#include "deviceplugin/sharing/strategy.h"

namespace crossover::deviceplugin {

// Returns the GPUs, by UUID, with pods that share them in another way than new pods would. The value names
// such a pod and says why. `mps` says whether new pods are clients of MPS.
std::map<std::string, base::WithheldReason> FindOtherSharing(const std::vector<Pod>& pods,
                                                             const std::vector<DeviceAllocation>& handed_out,
                                                             bool mps);

// Returns the events for living pods that were started as clients of MPS while MPS takes no new clients, or
// is gone.
std::set<kube::Event> MpsNotices(const std::vector<Pod>& pods,
                                 const std::vector<DeviceAllocation>& handed_out,
                                 const SharingStrategy& strategy);

// Returns the events for living containers that are clients of MPS and have a volume of their own where MPS's
// clients have their common /dev/shm. Placement keeps such pods away, unless MPS started after it decided.
std::set<kube::Event> ShmNotices(const std::vector<Pod>& pods,
                                 const std::vector<DeviceAllocation>& handed_out);

// Returns whether any living pod is a client of MPS.
bool AnyUnderMps(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out);

// Remembers which pods have recently lived as clients of MPS. A pod whose program fails together with MPS's
// server may have ended before the daemon notices the end of the server. Not thread-safe.
class RecentMpsPods {
 public:
  using Time = std::int64_t;
  static constexpr Time kKept = 15'000'000'000;  // ns; a server that ends is noticed within ten seconds

  // Takes into account which pods there are. `now` is in ns of any clock.
  void OnLook(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out, Time now);
  // Returns the events that tell these pods that MPS's server, the process `server`, has ended. Which of them
  // had a client in that server is not known.
  std::set<kube::Event> LossNotices(pid_t server) const;

 private:
  std::map<kube::Regarding, Time> lived_;  // when each pod was last seen alive
};

}  // namespace crossover::deviceplugin
