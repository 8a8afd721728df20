// Computes the loss of a small transformer and its gradients, by hand and in float32: one block with one head
// of causal attention and a layer of ReLU, each behind a norm (x / rms(x), without parameters) and beside a
// residual. It reads kLength tokens and predicts the next one at each place. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crossover::transformer {

inline constexpr std::size_t kTokens = 16;  // kinds
inline constexpr std::size_t kLength = 16;
inline constexpr std::size_t kWidth = 32;
inline constexpr std::size_t kHidden = 64;

enum Tensor {
  kEmbedding,
  kPosition,
  kQuery,
  kKey,
  kValue,
  kOutput,
  kUp,
  kUpBias,
  kDown,
  kDownBias,
  kHead,
  kTensors
};

// These are the elements of each tensor, row-major: [input][output].
inline constexpr std::array<std::size_t, kTensors> kSizes = {
    kTokens * kWidth, kLength* kWidth, kWidth* kWidth,  kWidth* kWidth, kWidth* kWidth, kWidth* kWidth,
    kWidth* kHidden,  kHidden,         kHidden* kWidth, kWidth,         kWidth* kTokens};

// Returns the borders of the tensors in one flat array; the last border is the number of parameters.
std::vector<std::size_t> Borders();

using Sequence = std::array<std::uint8_t, kLength + 1>;

// Returns initial parameters: normal, with a variance of 1 / inputs. Biases are 0.
std::vector<float> InitialParameters(std::uint64_t seed);

// Returns the mean loss over all places of the sequences. It adds the gradients of that mean to `gradients`,
// unless these are empty. REQUIRES: both arrays have Borders().back() elements.
double Loss(std::span<const float> parameters, std::span<const Sequence> sequences,
            std::span<float> gradients);

}  // namespace crossover::transformer
