// Which slots to propose to a kubelet that is about to choose some for a container. Pure.
//
// A kubelet takes exactly the slots that it is given here if they are as many as it asked for; with any other
// number it chooses at random. So the answer has that number, or none where it cannot be had.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "deviceplugin/plugin/device_id.h"

namespace crossover::deviceplugin {

struct Choice {
  std::vector<DeviceId> available;
  std::vector<DeviceId> must_include;
  std::size_t count = 0;
  // GPUs that the container is to have, as it was placed; empty where nobody knows.
  std::vector<std::string> assigned;
};

// Slots of distinct GPUs: those that must be included, then of the assigned GPUs, then of the GPUs with the
// most free slots (first by name where they have as many). Empty where fewer distinct GPUs are available than
// slots are asked for: a container gets no two slots of one GPU.
std::vector<DeviceId> Prefer(const Choice& choice);

}  // namespace crossover::deviceplugin
