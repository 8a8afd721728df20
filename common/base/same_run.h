// Defines which ranks nodes and the extender count as one run of a job.
#pragma once

namespace crossover::base {

// Ranks that return within this many seconds continue their run. What nodes report of a job within it
// belongs to one run.
inline constexpr int kSameRunS = 60;

}  // namespace crossover::base
