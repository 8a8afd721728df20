// Combines gradients by Adasum (arXiv 2006.02924, MLSys 2021): the sum of gradients that have nothing in
// common, and the mean of equal ones. For two gradients of a tensor,
//
//   Adasum(a, b) = (1 - a.b / (2 |a|^2)) a + (1 - a.b / (2 |b|^2)) b,
//
// and a coefficient is 1 where its |.|^2 is below sqrt(DBL_MIN). It is commutative, Adasum(a, a) = a, and
// Adasum(s a, s b) = s Adasum(a, b). It is not associative: ranks combine in a tree of pairs, 0 with 1, 2
// with 3, then these pairs.
//
// The ranks halve the vector and double the distance: at each level a rank exchanges halves of its piece with
// its partner, so that each has both gradients of one half. The three sums a.b, |a|^2, |b|^2 of each tensor
// then lie in pieces with all ranks of the two subtrees, which add them up in double. At the end the halves
// go back the same way.
//
// Adasum is another step of the optimizer, and no compression: as many bytes travel as for a sum. The
// learning rate is that of one rank, or 2 to 2.5 times that, and not one that was scaled by the number of
// ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/reductions/peers.h"

namespace crossover::reductions {

struct Products {
  double ab = 0;  // a.b
  double aa = 0;  // |a|^2
  double bb = 0;  // |b|^2
};

struct Coefficients {
  double a = 1;
  double b = 1;
};

Coefficients CoefficientsOf(const Products& products);

// Returns whether Adasum takes so many ranks: powers of two, from 2 on.
bool IsPowerOfTwo(std::size_t ranks);

// Replaces `values` by the Adasum over all ranks, in place. Tensor t has the elements from tensors[t] to
// tensors[t + 1]; the first border is 0 and the last one is the number of values. All ranks give the same
// borders, and get the same bits. Where a tensor is not finite on some rank, it is NaN on all. REQUIRES:
// IsPowerOfTwo(all.size()).
void ReduceByAdasum(Peers& all, std::span<float> values, std::span<const std::size_t> tensors);

// Returns the bytes that each of `ranks` sends for `count` values, a multiple of `ranks`, in `tensors`
// tensors: 2 (1 - 1 / ranks) count floats, and at level l, from 1 to log2(ranks), l times three doubles for
// each tensor.
std::uint64_t AdasumBytes(std::size_t ranks, std::size_t count, std::size_t tensors);

}  // namespace crossover::reductions
