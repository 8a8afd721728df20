// Initial parameters, and what is computed from final ones on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/trainer/dataset.h"
#include "examples/trainer/model.h"

namespace crossover::trainer {

// kParameters values: weights normal with variance 2 / inputs (He), biases zero.
std::vector<float> InitialParameters(std::uint64_t seed);

// Share of the held-out images that the network classifies correctly.
double Accuracy(const std::vector<float>& parameters, const std::vector<float>& mean, const Dataset& dataset,
                const ImageOrder& order);

// FNV-1a, 64 bits.
std::uint64_t Digest(const void* bytes, std::size_t size);

}  // namespace crossover::trainer
