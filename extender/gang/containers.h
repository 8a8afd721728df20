// Which of a pod's containers gets which of its GPUs. Pure.
//
// A kubelet gives what a finished init container had to those after it, at random and without asking: so a
// later container's GPUs contain all that earlier ones leave over. A pod whose containers cannot be served so
// is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/annotations/assignment.h"
#include "extender/cluster/model.h"

namespace crossover::extender {

using ByContainer = annotations::GpusByContainer;

// Different GPUs that the pod has at once.
int GpusWanted(const Pod& pod);

// What is wrong with the containers, or "".
std::string FaultyContainers(const Pod& pod);

// `gpus`: GpusWanted() of them. Nothing where they are too few, or the containers at fault.
std::optional<ByContainer> Distribute(const Pod& pod, std::span<const std::string> gpus);

}  // namespace crossover::extender
