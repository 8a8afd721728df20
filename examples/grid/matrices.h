// Makes the matrices of the example and computes their products in one process, as an oracle. All elements
// are small whole numbers, so that float32 holds each sum exactly, in whatever order it is added up. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/grid/layout.h"

namespace crossover::grid {

enum class Matrix : std::uint8_t { kX, kA, kGradientOfY };

// Returns an element of one of the three matrices that are given, from -3 to 3.
float Element(Matrix matrix, std::uint32_t row, std::uint32_t column);

// Returns a block of one of them, row by row.
std::vector<float> Given(Matrix matrix, const Block& block);

// Computes a block in one process: of Y = X A, of X's gradient (that of Y times A transposed), and of A's
// gradient (X transposed times that of Y). `inner`, `columns` and `rows` are those of Sizes: how long the
// sums are.
std::vector<float> SerialY(const Block& block, std::uint32_t inner);
std::vector<float> SerialGradientOfX(const Block& block, std::uint32_t columns);
std::vector<float> SerialGradientOfA(const Block& block, std::uint32_t rows);

}  // namespace crossover::grid
