// Makes the events by which pods learn why their reductions are plain although their owners ask for
// compressed ones. Pure. Not thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/pods/pod.h"
#include "deviceplugin/stats/snapshots.h"

namespace crossover::deviceplugin {

class PlainNotices {
 public:
  // Returns an event for each pod and reason that there was none for. A client without a pod gets none, and
  // a communicator that was not tried because an earlier one was refused is no news. Nor is what the extender
  // chose for a job with auto, because it tells the owner itself. Forgets pods that are not among `pods`,
  // those of the node.
  std::vector<kube::Event> Look(const std::vector<ReductionsView>& views, const std::vector<Pod>& pods);

 private:
  // Holds the UID of a pod and a number of base::PlainReason: fewer than kPlainReasons for each pod.
  std::set<std::pair<std::string, std::uint32_t>> told_;
};

}  // namespace crossover::deviceplugin
