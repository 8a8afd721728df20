#include "examples/reductions/adasum.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace crossover::reductions {
namespace {

struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

// A Level is what a rank exchanges with one partner: it keeps one half of its piece and sends the other.
struct Level {
  std::size_t partner = 0;
  Piece kept;
  Piece sent;
};

template <typename T>
std::vector<T> Swap(Peers& all, std::size_t partner, std::span<const T> mine, std::size_t expected) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<Bytes> sent(all.size());
  std::vector<std::size_t> sizes(all.size());
  sent[partner].resize(mine.size_bytes());
  if (!mine.empty()) std::memcpy(sent[partner].data(), mine.data(), mine.size_bytes());
  sizes[partner] = expected * sizeof(T);
  const std::vector<Bytes> received = all.Exchange(sent, sizes);
  std::vector<T> theirs(expected);
  if (expected > 0) std::memcpy(theirs.data(), received[partner].data(), expected * sizeof(T));
  return theirs;
}

Level HalfOf(std::size_t rank, std::size_t distance, const Piece& piece) {
  const std::size_t middle = piece.begin + piece.size() / 2;
  const Piece lower{piece.begin, middle}, upper{middle, piece.end};
  const bool is_lower = (rank & distance) == 0;
  return {rank ^ distance, is_lower ? lower : upper, is_lower ? upper : lower};
}

// Calls work(tensor, begin, end) for the part of each tensor that is in the piece.
template <typename Work>
void ForEachTensor(std::span<const std::size_t> tensors, const Piece& piece, Work work) {
  for (std::size_t t = 0; t + 1 < tensors.size(); ++t) {
    const std::size_t begin = std::max(tensors[t], piece.begin), end = std::min(tensors[t + 1], piece.end);
    if (begin < end) work(t, begin, end);
  }
}

// Adds up the products over the 2 * distance ranks that have pieces of the same two gradients. Partners add
// the same two numbers at each step, so all ranks get the same bits.
void AddUp(Peers& all, std::size_t distance, std::vector<Products>& products) {
  for (std::size_t step = 1; step <= distance; step *= 2) {
    const auto theirs = Swap<Products>(all, all.place() ^ step, products, products.size());
    for (std::size_t t = 0; t < products.size(); ++t) {
      products[t].ab += theirs[t].ab;
      products[t].aa += theirs[t].aa;
      products[t].bb += theirs[t].bb;
    }
  }
}

// Combines the kept half with the partner's. The gradient of the lower ranks is a on both sides.
void Combine(Peers& all, std::size_t distance, const Level& level, std::span<float> values,
             std::span<const std::size_t> tensors) {
  const auto out = std::span<const float>(values).subspan(level.sent.begin, level.sent.size());
  const std::vector<float> theirs = Swap<float>(all, level.partner, out, level.kept.size());
  const bool mine_is_a = (all.place() & distance) == 0;
  std::vector<Products> products(tensors.size() - 1);
  ForEachTensor(tensors, level.kept, [&](std::size_t t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double mine = values[i], other = theirs[i - level.kept.begin];
      products[t].ab += mine * other;
      products[t].aa += mine_is_a ? mine * mine : other * other;
      products[t].bb += mine_is_a ? other * other : mine * mine;
    }
  });
  AddUp(all, distance, products);
  ForEachTensor(tensors, level.kept, [&](std::size_t t, std::size_t begin, std::size_t end) {
    const Coefficients of = CoefficientsOf(products[t]);
    const double c_mine = mine_is_a ? of.a : of.b, c_other = mine_is_a ? of.b : of.a;
    for (std::size_t i = begin; i < end; ++i) {
      const double mine = values[i], other = theirs[i - level.kept.begin];
      values[i] = static_cast<float>(c_mine * mine + c_other * other);
    }
  });
}

}  // namespace

Coefficients CoefficientsOf(const Products& products) {
  static const double least = std::sqrt(DBL_MIN);
  Coefficients coefficients;
  if (!(products.aa < least)) coefficients.a = 1 - products.ab / (2 * products.aa);
  if (!(products.bb < least)) coefficients.b = 1 - products.ab / (2 * products.bb);
  return coefficients;
}

bool IsPowerOfTwo(std::size_t ranks) { return ranks >= 2 && std::has_single_bit(ranks); }

void ReduceByAdasum(Peers& all, std::span<float> values, std::span<const std::size_t> tensors) {
  std::vector<Level> levels;
  Piece piece{0, values.size()};
  for (std::size_t distance = 1; distance < all.size(); distance *= 2) {
    levels.push_back(HalfOf(all.place(), distance, piece));
    piece = levels.back().kept;
    Combine(all, distance, levels.back(), values, tensors);
  }
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const auto kept = std::span<const float>(values).subspan(level->kept.begin, level->kept.size());
    const std::vector<float> theirs = Swap<float>(all, level->partner, kept, level->sent.size());
    std::ranges::copy(theirs, values.begin() + static_cast<std::ptrdiff_t>(level->sent.begin));
  }
}

std::uint64_t AdasumBytes(std::size_t ranks, std::size_t count, std::size_t tensors) {
  const auto levels = static_cast<std::uint64_t>(std::countr_zero(ranks));
  const std::uint64_t sums = levels * (levels + 1) / 2 * sizeof(Products) * tensors;
  return 2 * (count - count / ranks) * sizeof(float) + sums;
}

}  // namespace crossover::reductions
