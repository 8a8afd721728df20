// Decides which slots to propose to the kubelet when it is about to choose slots for a container. Pure.
//
// The kubelet uses a proposal only if it has exactly the requested number of slots. Otherwise it chooses at
// random. A proposal therefore has that number of slots, or is empty if that is not possible.
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
  // Holds the UUIDs of the GPUs that the pod's placement assigns to the container. It is empty if that is not
  // known.
  std::vector<std::string> assigned;
};

// Returns `count` slots of distinct GPUs: first those that must be included, then slots of the assigned
// GPUs, then slots of the GPUs with the most free slots. UUIDs break ties. Returns an empty list if fewer
// than `count` distinct GPUs are available, because a container never gets two slots of one GPU. Also
// returns an empty list if the slots to include are more than `count` or are not of distinct GPUs.
std::vector<DeviceId> Prefer(const Choice& choice);

}  // namespace crossover::deviceplugin
