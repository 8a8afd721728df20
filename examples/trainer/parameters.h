// Makes the initial parameters and evaluates the final ones on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/trainer/dataset.h"
#include "examples/trainer/model.h"

namespace crossover::trainer {

// Returns kParameters values: weights are normal with variance 2 / inputs (He), biases zero.
std::vector<float> InitialParameters(std::uint64_t seed);

// Returns the share of the held-out images that the network classifies correctly.
double Accuracy(const std::vector<float>& parameters, const std::vector<float>& mean, const Dataset& dataset,
                const ImageOrder& order);

// Returns the 64-bit FNV-1a hash of the bytes.
std::uint64_t Digest(const void* bytes, std::size_t size);

}  // namespace crossover::trainer
