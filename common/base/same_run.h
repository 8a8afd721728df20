// Defines which ranks nodes and the extender count as one run of a job.
#pragma once

namespace crossover::base {

// Ranks that return within this many seconds continue their run. Reports of several nodes about a job belong
// to one run if they are no further apart.
inline constexpr int kSameRunS = 60;

}  // namespace crossover::base
