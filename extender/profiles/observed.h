// Prepares for placement what the profiles say about jobs that met. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "extender/cluster/model.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// Returns the key by which placement knows a profile: namespace and key. Returns "" if `key` is empty.
std::string PlacementKeyOf(const std::string& name_space, const std::string& key);

// Returns the gain of each pair once. Both profiles of a pair may report their meetings; the mean of them
// counts.
std::vector<placement::Observed> ObservedOf(std::span<const JobProfile* const> profiles);

}  // namespace crossover::extender
