// Makes a profile of a job in the namespace of these tests.
#pragma once

#include "extender/cluster/cluster_cache.h"

namespace crossover::extender {

inline JobProfile MadeProfile(const std::string& key, std::uint64_t peak_memory = 0) {
  JobProfile profile;
  profile.name_space = "team";
  profile.name = profile.key = key;
  profile.compute_s = 1;
  profile.exposed_s = 2;
  profile.peak_memory = peak_memory;
  return profile;
}

}  // namespace crossover::extender
