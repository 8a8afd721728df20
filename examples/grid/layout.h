// Lays a matrix product out over a grid of q x q x d ranks, as Tesseract does (arXiv 2105.14500): says which
// rank stands where, which blocks it has, and how many bytes it gets. Pure.
//
//   Y = X A       X has d q x q blocks, A has q x q, and each of the d layers has a copy of A.
//                 The rank in row i, column j and layer k has X[k q + i, j], A[i, j] and Y[k q + i, j].
//
//   q = 2, d = 2              layer 0        layer 1
//                             X00 X01        X20 X21         each layer: A00 A01
//                             X10 X11        X30 X31                     A10 A11
//
// With d = 1 this is the SUMMA algorithm on a square, and with q = 1 plain data parallelism.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace crossover::grid {

struct Grid {
  std::uint32_t q = 1;  // rows, and columns
  std::uint32_t d = 1;  // layers

  std::uint32_t ranks() const { return q * q * d; }
};

// A Numbering says in which order the ranks fill the grid. kRows: along a row, then the next row, then the
// next layer, so that a layer has consecutive ranks. kLayers: through the layers first, so that the ranks
// that exchange least have consecutive numbers.
enum class Numbering : std::uint8_t { kRows, kLayers };

struct Place {
  std::uint32_t row = 0, column = 0, layer = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

// Returns the place of a rank. REQUIRES: rank < grid.ranks().
Place PlaceOf(const Grid& grid, Numbering numbering, std::uint32_t rank);

// Sizes are those of the whole matrices: X has rows x inner elements, A inner x columns, Y rows x columns.
struct Sizes {
  std::uint32_t rows = 0, inner = 0, columns = 0;
};

// Returns what is wrong with the sizes, in words with the key, what is expected and the value. All blocks of
// a matrix have to be alike, and each layer sums up an equal part of a block of A's gradient.
std::optional<std::string> Misfit(const Grid& grid, const Sizes& sizes);

// A Block is a part of a matrix.
struct Block {
  std::uint32_t first_row = 0, first_column = 0, rows = 0, columns = 0;

  std::uint32_t count() const { return rows * columns; }
};

// Returns the block of X that a rank has. The others do the same for A and Y. REQUIRES: Misfit() finds
// nothing.
Block BlockOfX(const Grid& grid, const Sizes& sizes, const Place& place);
Block BlockOfA(const Grid& grid, const Sizes& sizes, const Place& place);
Block BlockOfY(const Grid& grid, const Sizes& sizes, const Place& place);

// Returns how many bytes a rank gets from others for one product and its two gradients. It gets each of the
// other q - 1 blocks of its row and of its column once in each of the three, by a broadcast or a reduction,
// and its part of the sum over the layers by an all-reduce:
//
//   3 (q - 1) (|X| / (d q^2) + |A| / q^2) + 2 (d - 1) / d |A| / q^2        with |M| in bytes of float32
std::uint64_t BytesReceived(const Grid& grid, const Sizes& sizes);
// Returns the part of them that comes through the layers, by the all-reduce.
std::uint64_t BytesFromLayers(const Grid& grid, const Sizes& sizes);

}  // namespace crossover::grid
