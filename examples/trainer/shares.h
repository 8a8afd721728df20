// Divides the batch of a job among its ranks by their weights. The file of weights is one line of whole
// numbers, one for each rank: "1000 1000 500 250". batch_shares.py reads the same file and divides alike.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crossover::trainer {

inline constexpr std::uint32_t kMostWeight = 1'000'000;

using Weights = std::vector<std::uint32_t>;  // one for each rank, from 1 to kMostWeight

// Returns the weights of `world` ranks, or one line that says what is wrong. `name` is the file's.
std::variant<Weights, std::string> ParseWeights(std::string_view name, std::string_view text,
                                                std::uint32_t world);

// Returns how many of `batch` images each rank takes: as its weight says, rounded so that they add up to
// `batch`. The largest remainders are rounded up, and of equal ones those of the lower ranks. Each rank gets
// one image at least, from the rank with the most. REQUIRES: `batch` is no less than the number of ranks.
std::vector<std::uint32_t> Divide(std::uint32_t batch, std::span<const std::uint32_t> weights);

// Returns a number of 24 bits, which a float32 holds exactly, for the weights. Equal weights have equal
// numbers. It is not 0.
std::uint32_t WeightsDigest(std::span<const std::uint32_t> weights);

}  // namespace crossover::trainer
