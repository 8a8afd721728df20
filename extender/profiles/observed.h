// What placement is told of meetings. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "extender/cluster/model.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// By which placement knows a profile: its key and namespace. Empty where there is no key.
std::string PlacementKeyOf(const std::string& name_space, const std::string& key);

// Each pair once. Both profiles of a pair tell of its meetings: what they say is averaged.
std::vector<placement::Observed> ObservedOf(std::span<const JobProfile* const> profiles);

}  // namespace crossover::extender
