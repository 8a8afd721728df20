// Adds only the k largest gradients of each rank, and keeps the rest for later steps: MSTopK with error
// feedback and the hierarchical exchange HiTopKComm (arXiv 2010.10458, MLSys 2021).
//
// The k largest are found without a sort. With lo and hi the least and the greatest magnitude, a threshold lo
// + q (hi - lo) is moved by bisection of q: t1 is the lowest one that at most k magnitudes reach, and t2 the
// highest one that more than k reach. All k1 values from t1 on are taken, and a run of k - k1 neighbours,
// from a random start, of those between t2 and t1. So exactly k are taken, and what they lack of the energy
// (the sum of squares) of the true k largest is at most (k - k1) (t1^2 - t2^2).
//
// Values that are not taken stay on the rank, in the residual, and the rank adds them to its next gradients.
// The residual is in the scale of the gradients, as they were: code that scales losses, or changes the
// learning rate, has to scale it, too. It is in no checkpoint.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/reductions/groups.h"

namespace crossover::reductions {

// A Selection has the indices of what was taken, in rising order, and the two thresholds. `exact` of them
// reach `t1`.
struct Selection {
  std::vector<std::uint32_t> indices;
  std::size_t exact = 0;
  float t1 = 0;
  float t2 = 0;
};

inline constexpr unsigned kBisections = 10;  // these find all but 0.01% of the energy

// Takes exactly k values. `random` decides where the run begins. REQUIRES: all values are finite, and k <=
// their number.
Selection SelectTopK(std::span<const float> values, std::size_t k, unsigned bisections, std::uint64_t random);

// Returns how many of `count` values a density takes: at least 1, and 0 of none.
std::size_t CountOf(std::size_t count, double density);

// A TopK is the state of one rank.
class TopK {
 public:
  // `density` is above 0 and at most 1. Without `keeps_residual`, what is not taken is lost: known to be bad,
  // for tests.
  TopK(double density, std::uint64_t seed, bool keeps_residual = true)
      : density_(density), seed_(seed), keeps_residual_(keeps_residual) {}

  // Replaces `values` by the sum over nodes of what each has taken of its own sum. Each rank takes of its own
  // shard. All calls have as many values, in the same order. Each rank sends 8 bytes for each value that it
  // takes to each other node. Where a value is not finite, NaN takes the place of all that this rank takes,
  // on all ranks, and the residual stays as it was before the call: a trainer that skips such a step loses
  // nothing.
  void Reduce(const Groups& groups, std::span<float> values, std::uint64_t call);

  // Returns what this rank keeps, for its shard. It is empty before the first call.
  const std::vector<float>& residual() const { return residual_; }

 private:
  void ReduceShard(const Groups& groups, std::span<float> shard, std::uint64_t call);

  double density_;
  std::uint64_t seed_;
  bool keeps_residual_;
  std::vector<float> residual_;
};

}  // namespace crossover::reductions
