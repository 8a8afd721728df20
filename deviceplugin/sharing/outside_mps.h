// Which GPUs have somebody who is no client of MPS, where newcomers would be. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// By UUID, and who: by what each container was answered when it got its slots, which holds while it lives.
std::map<std::string, std::string> FindOutsideMps(const std::vector<Pod>& pods,
                                                  const std::vector<HandedOut>& handed_out);

}  // namespace crossover::deviceplugin
