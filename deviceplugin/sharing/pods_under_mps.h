// Determines which pods were started as clients of MPS. This follows from the answer that each container
// got with its slots, which is valid as long as the container lives. Pods that have ended, or are gone, do
// not count. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// Returns the GPUs, by UUID, with pods that share them in another way than new pods would. The value names
// such a pod and says why. `mps` says whether new pods are clients of MPS.
std::map<std::string, std::string> FindOtherSharing(const std::vector<Pod>& pods,
                                                    const std::vector<HandedOut>& handed_out, bool mps);

// Returns whether any living pod is a client of MPS.
bool AnyUnderMps(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

}  // namespace crossover::deviceplugin
