// Which slots pods have, by what the kubelet has given out: also more than there are now, where the
// configuration was another when they came. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

using HeldSlots = std::map<std::string, std::set<std::uint32_t>>;  // numbers of slots, by GPU

// Those of pods that are over do not count, nor those of pods that are gone.
HeldSlots FindHeldSlots(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

}  // namespace crossover::deviceplugin
