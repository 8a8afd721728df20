// Computes a matching whose weight is proven to be near the maximum, for graphs with too many edges for the
// exact algorithm. Pure.
#pragma once

#include "extender/placement/matching.h"

namespace crossover::placement {

struct ApproxMatching {
  std::vector<int> edges;  // the matching, as ascending indices into the given edges
  double bound = 0;        // no matching weighs more
  int looked_at = 0;       // number of edges in the last run of the exact algorithm
};

// Returns a matching with at least `part` (0 to 1) of the largest weight. For graphs of up to `exact_edges`
// edges it is the maximum. Deterministic.
//
// The exact algorithm runs on some of the edges: the heaviest of each vertex, and a pseudo-random choice of
// others. Its prices, those of odd sets included, bound how much each left-out edge could add. While the
// sum of these bounds is too large, the edges with the largest bounds are added and the algorithm runs
// again. In the worst case it ends with all edges.
ApproxMatching ApproxHeaviestMatching(int vertices, const std::vector<Edge>& edges, double part = 0.995,
                                      std::size_t exact_edges = 20'000);

}  // namespace crossover::placement
