// Adds up what pods ask for. Pure. Sums do not overflow: they stop at the largest value.
#pragma once

#include <cstdint>
#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

using kube::kPods;

// Adds what `pod` asks for to `to`, and 1 to the resource "pods".
void AddPod(const Pod& pod, Resources* to);
// Subtracts what AddPod() adds. Amounts may become negative.
void RemovePod(const Pod& pod, Resources* from);
// Returns the amount of a resource from `others`, or 0 if there is none.
std::int64_t Amount(const Resources& resources, const std::string& name);

}  // namespace crossover::extender
