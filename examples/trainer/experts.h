// Says how a job with experts spreads one layer over the ranks.
//
// As in a mixture of experts, each rank has an expert of its own in place of the layer kExpertLayer. Each
// image goes to one expert, so ranks exchange rows, four times in a micro-batch:
//
//     activation before the layer   --Dispatch-->  sent      ==exchange==>  received
//     ExpertForward:                               outgoing  ==exchange==>  answers    --Collect-->  after it
//     delta after the layer         --Dispatch-->  sent      ==exchange==>  deltas
//     ExpertInputGradient:                         outgoing  ==exchange==>  answers    --Collect-->  before
//     it
//
// Rows that a rank sends are in the order of the experts, and rows that it receives in the order of the
// ranks. All other layers are data-parallel, as in the variant `plain`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "examples/trainer/model.h"

namespace crossover::trainer {

inline constexpr std::uint32_t kExpertLayer = 2;
inline constexpr std::uint32_t kExpertParameters = WeightCount(kExpertLayer) + Width(kExpertLayer + 1);
inline constexpr std::uint32_t kExchangesOfAMicroBatch = 4;

// An Exchange is one of the four, in the order above.
enum Exchange : std::uint32_t { kToExperts, kFromExperts, kDeltasToExperts, kDeltasFromExperts };

// Returns how many floats the message of one image has. The exchanges of an iteration then move `bytes` bytes
// of each rank, its own part included, or what the model needs if that is more.
constexpr std::uint32_t RowFloats(std::uint64_t bytes, std::uint32_t rows, std::uint32_t accumulation) {
  const std::uint64_t messages = std::uint64_t{kExchangesOfAMicroBatch} * accumulation * rows;
  return std::max({Width(kExpertLayer), Width(kExpertLayer + 1),
                   static_cast<std::uint32_t>(bytes / sizeof(float) / messages)});
}

// Returns the number of images of which fixed routing sends to an expert, of `rows` images: each expert gets
// every `world`-th.
constexpr std::uint32_t FixedCount(std::uint32_t rows, std::uint32_t world, std::uint32_t expert) {
  return (rows + world - 1 - expert) / world;
}

}  // namespace crossover::trainer
