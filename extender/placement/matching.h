// The heaviest matching of a graph. Pure.
#pragma once

#include <utility>
#include <vector>

namespace crossover::placement {

struct Edge {
  int a = 0;
  int b = 0;
  double weight = 0;
};

// Edges of which no two meet, of the largest sum of weights there is; exact but for weights being rounded to
// 2^-40 of the heaviest. Vertices are 0 to `vertices` - 1; edges with no weight, loops and edges to vertices
// that are not there count as absent. Returns places in `edges`, in ascending order. At most O(n m log n).
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges);

}  // namespace crossover::placement
