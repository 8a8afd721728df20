// Decides which container of a pod gets which of its GPUs. Pure.
//
// When an init container has ended, the kubelet gives its GPUs to the containers after it, in random order
// and without asking. Therefore the next container with GPUs gets all GPUs that earlier ones left over. A
// pod whose containers do not allow that is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/annotations/assignment.h"
#include "extender/cluster/model.h"

namespace crossover::extender {

using ByContainer = annotations::GpusByContainer;

// Returns how many different GPUs the pod needs: the slots of its containers and sidecars. Other init
// containers do not count, because they hand their GPUs on.
int GpusWanted(const Pod& pod);

// Returns what is wrong with the containers, in words for the user, or "" if nothing is.
std::string FaultyContainers(const Pod& pod);

// Gives `gpus` to the containers. Returns nothing unless they are GpusWanted() many and the containers are
// valid.
std::optional<ByContainer> Distribute(const Pod& pod, std::span<const std::string> gpus);

}  // namespace crossover::extender
