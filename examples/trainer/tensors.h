// Says what a tensor-parallel job sends.
//
// As with Megatron's row-parallel layers, each rank multiplies a part of the inputs of each layer by their
// weights. The sum over ranks is the layer's output. On the way back each rank computes the gradients by its
// inputs, and the sum over ranks gives them to all. All ranks have all images of the batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "examples/trainer/model.h"

namespace crossover::trainer {

// A micro-batch sums the output of each layer, and the gradients by the inputs of each but the first.
inline constexpr std::uint32_t kSumsOfAMicroBatch = 2 * kLayers - 1;

// Returns how many floats each of these sums has, of `rows` images in one micro-batch of all ranks. An
// iteration then sums `bytes` bytes, or what the model needs if that is more.
constexpr std::uint32_t SummedFloats(std::uint64_t bytes, std::uint32_t rows, std::uint32_t accumulation) {
  std::uint32_t widest = 0;
  for (std::uint32_t level = 1; level <= kLayers; ++level) widest = std::max(widest, Width(level));
  const std::uint64_t sums = std::uint64_t{kSumsOfAMicroBatch} * accumulation;
  return std::max(rows * widest, static_cast<std::uint32_t>(bytes / sizeof(float) / sums));
}

}  // namespace crossover::trainer
