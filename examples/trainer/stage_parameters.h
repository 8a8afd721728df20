// Makes the initial parameters of a pipeline's model and evaluates the final ones on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/trainer/dataset.h"
#include "examples/trainer/stage_model.h"

namespace crossover::trainer {

// Returns the parameters of all blocks. They depend on the seed alone, and the model of more blocks begins no
// louder than that of fewer.
std::vector<float> InitialBlocks(std::uint64_t seed, std::uint32_t blocks);

// Returns the share of the held-out images that the model classifies correctly.
double AccuracyOfBlocks(const std::vector<float>& parameters, std::uint32_t blocks, const Dataset& dataset,
                        const ImageOrder& order);

}  // namespace crossover::trainer
