// Sums of what pods ask for. Pure; nothing overflows: what is too much is the most there can be.
#pragma once

#include <cstdint>
#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

inline constexpr char kPods[] = "pods";  // the resource of which each pod takes one

// With the place that the pod itself takes.
void AddPod(const Pod& pod, Resources* to);
// 0 where there is none.
std::int64_t Amount(const Resources& resources, const std::string& name);

}  // namespace crossover::extender
