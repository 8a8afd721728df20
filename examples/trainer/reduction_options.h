// Checks the flags of --reduction against the other flags, and against the ranks. Pure.
#pragma once

#include <optional>

#include "examples/trainer/options.h"

namespace crossover::trainer {

// The density of --reduction=topk where no flag says another one.
inline constexpr double kDefaultDensity = 0.05;

// Returns what is wrong with the flags of reductions, or with flags beside them. All reductions but sum
// exchange the gradients of the whole model, which each rank must have, through the host.
std::optional<UsageError> FaultOfReduction(const Options& options);

// Returns what is wrong with the number of ranks.
std::optional<UsageError> FaultOfRanks(const Options& options, const Rank& rank);

}  // namespace crossover::trainer
