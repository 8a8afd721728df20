// Describes the model of a pipeline, a chain of blocks on 8x8 digits, and what one stage keeps of it in
// device memory.
//
// Each block but the last adds to its input what a layer with ReLU makes of it. The last block computes the
// class scores. Arrays are row-major float32, and a row has kBlockWidth floats.
#pragma once

#include <cstdint>

#include "examples/trainer/model.h"

namespace crossover::trainer {

inline constexpr std::uint32_t kBlockWidth = kPixels;
inline constexpr std::uint32_t kMostBlocks = 512;

TRAINER_HD constexpr std::uint32_t BlockOutputs(std::uint32_t block, std::uint32_t blocks) {
  return block + 1 < blocks ? kBlockWidth : kClasses;
}

// Parameters and gradients are one flat array each. For every block it holds the weights [input][output],
// then the bias.
TRAINER_HD constexpr std::uint32_t BlockOffset(std::uint32_t block) {
  return block * (kBlockWidth + 1) * kBlockWidth;
}

// Returns where the parameters of the first `end` blocks end.
TRAINER_HD constexpr std::uint32_t BlocksEnd(std::uint32_t end, std::uint32_t blocks) {
  return BlockOffset(end - 1) + (kBlockWidth + 1) * BlockOutputs(end - 1, blocks);
}

// A *level* is what lies between two blocks, for one micro-batch: its rows and one float more. Level 0 of a
// stage is the input of its first block. As a message of gradients, a level ends with the loss.
TRAINER_HD constexpr std::uint32_t LevelFloats(std::uint32_t rows) { return rows * kBlockWidth + 1; }

// Micro-batches of an iteration are whole in a kernel, or it computes one half of the rows.
enum : std::uint32_t { kAllRows = 0, kFirstRows = 1, kSecondRows = 2 };
// In place of rows, a backward pass has whether it adds to the gradients of the earlier micro-batches.
inline constexpr std::uint32_t kAddGradients = 1;

// Returns the argument `b` of kernels that work on a slot.
TRAINER_HD constexpr std::uint32_t SlotArgument(std::uint32_t slot, std::uint32_t rows) {
  return slot * 4 + rows;
}

}  // namespace crossover::trainer
