// A matching that is proven to be nearly the heaviest, of graphs with too many edges for the exact one. Pure.
#pragma once

#include "extender/placement/matching.h"

namespace crossover::placement {

struct Nearly {
  std::vector<int> edges;  // places, ascending; no two meet
  double bound = 0;        // no matching weighs more
  int looked_at = 0;       // how many edges the exact algorithm was given, in the end
};

// At least `part` (0 to 1) of the heaviest. Graphs of up to `exact_edges` edges get the heaviest.
//
// The exact algorithm is given some of the edges: the heaviest of each vertex, and others by a fixed lot. Its
// prices, those of odd sets among them, say how much each of the others could add to what was found. While
// that is too much, those that promise the most come in, and it begins anew: in the end, if it must be, with
// all of them. Deterministic.
Nearly NearlyHeaviestMatching(int vertices, const std::vector<Edge>& edges, double part = 0.995,
                              std::size_t exact_edges = 20'000);

}  // namespace crossover::placement
