#include "examples/grid/matrices.h"

namespace crossover::grid {
namespace {

template <typename At>
std::vector<float> Filled(const Block& block, At at) {
  std::vector<float> values;
  values.reserve(block.count());
  for (std::uint32_t row = 0; row < block.rows; ++row) {
    for (std::uint32_t column = 0; column < block.columns; ++column)
      values.push_back(at(block.first_row + row, block.first_column + column));
  }
  return values;
}

template <typename Term>
float Sum(std::uint32_t count, Term term) {
  float sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += term(i);
  return sum;
}

}  // namespace

float Element(Matrix matrix, std::uint32_t row, std::uint32_t column) {
  const std::uint32_t mixed = (row * 31 + column * 17 + static_cast<std::uint32_t>(matrix) * 7) * 2654435761u;
  return static_cast<float>((mixed >> 16) % 7) - 3;
}

std::vector<float> Given(Matrix matrix, const Block& block) {
  return Filled(block,
                [matrix](std::uint32_t row, std::uint32_t column) { return Element(matrix, row, column); });
}

std::vector<float> SerialY(const Block& block, std::uint32_t inner) {
  return Filled(block, [inner](std::uint32_t row, std::uint32_t column) {
    return Sum(inner,
               [=](std::uint32_t i) { return Element(Matrix::kX, row, i) * Element(Matrix::kA, i, column); });
  });
}

std::vector<float> SerialGradientOfX(const Block& block, std::uint32_t columns) {
  return Filled(block, [columns](std::uint32_t row, std::uint32_t column) {
    return Sum(columns, [=](std::uint32_t i) {
      return Element(Matrix::kGradientOfY, row, i) * Element(Matrix::kA, column, i);
    });
  });
}

std::vector<float> SerialGradientOfA(const Block& block, std::uint32_t rows) {
  return Filled(block, [rows](std::uint32_t row, std::uint32_t column) {
    return Sum(rows, [=](std::uint32_t i) {
      return Element(Matrix::kX, i, row) * Element(Matrix::kGradientOfY, i, column);
    });
  });
}

}  // namespace crossover::grid
