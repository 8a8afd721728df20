// What nodes and the cluster take for one run of a job.
#pragma once

namespace crossover::base {

// Ranks that come back within this go on with their run, and what nodes see of a job within it is one.
inline constexpr int kSameRunS = 60;

}  // namespace crossover::base
