// Who was started as a client of MPS, and who was not: by what each container was answered when it got its
// slots, which holds while it lives. Pods that are over, or gone, do not count. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// GPUs with pods that share it in another way than newcomers would, by UUID, and which. `mps`: newcomers are
// clients of MPS.
std::map<std::string, std::string> FindOtherSharing(const std::vector<Pod>& pods,
                                                    const std::vector<HandedOut>& handed_out, bool mps);

// Whether any pod is a client of MPS.
bool AnyUnderMps(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

}  // namespace crossover::deviceplugin
