// Whether a node takes a pod, GPUs aside: whoever plans those knows them better. Slots count as any resource
// does. Pure.
//
// Not asked: volumes, ports, the affinity of pods to each other, topology spread. A scheduler finds these,
// and its refusal is heard of by the pod's condition PodScheduled.
#pragma once

#include <string>

#include "extender/cluster/model.h"
#include "extender/cluster/world.h"
#include "extender/placement/fitness.h"

namespace crossover::extender {

// How many more such pods the node takes beside what is on it and what `planned` says is to come (AddPod in
// resources.h), and where it takes none, why: "its CPU is taken", with its figures: "12 of 16, and the pod
// wants 8".
placement::Fit FitOn(const World& world, const std::string& node, const Pod& pod, const Resources& planned);

}  // namespace crossover::extender
