// Says how a sharded job spreads its parameters over the ranks.
//
// As in PyTorch's FSDP, each rank keeps a part of each layer's parameters. The layer is gathered before its
// forward and its backward pass, and discarded behind each. Its gradients are reduced and scattered. A layer
// with its padding is a *unit*; rank r keeps the r-th of `world` equal parts of it. All units are equal.
#pragma once

#include <cstdint>

#include "examples/trainer/model.h"

namespace crossover::trainer {

// An iteration gathers each layer twice and scatters it once.
inline constexpr std::uint32_t kUnitsOnTheWire = 3 * kLayers;

// Returns the floats of a unit, a multiple of `world`. An iteration then puts as many bytes on the wire as an
// all-reduce of `bytes` bytes, or what the model needs if that is more.
constexpr std::uint32_t UnitSize(std::uint64_t bytes, std::uint32_t world) {
  std::uint32_t least = 0;
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    const std::uint32_t size = LayerOffset(layer + 1) - LayerOffset(layer);
    if (size > least) least = size;
  }
  const auto wished = static_cast<std::uint32_t>(2 * bytes / sizeof(float) / kUnitsOnTheWire);
  const std::uint32_t floats = wished > least ? wished : least;
  return (floats + world - 1) / world * world;
}

}  // namespace crossover::trainer
