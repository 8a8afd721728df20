// The heaviest matching of a graph, exactly. Pure.
#pragma once

#include <utility>
#include <vector>

namespace crossover::placement {

struct Edge {
  int a = 0;
  int b = 0;
  double weight = 0;
};

// Whether it counts: it has a weight, and two ends that are there.
inline bool Counts(const Edge& edge, int vertices) {
  return edge.weight > 0 && edge.a != edge.b && edge.a >= 0 && edge.b >= 0 && edge.a < vertices &&
         edge.b < vertices;
}

// Edges of which no two meet, of the largest sum of weights there is; exact but for weights being rounded to
// 2^-40 of the heaviest. Vertices are 0 to `vertices` - 1; edges with no weight, loops and edges to vertices
// that are not there count as absent. Returns places in `edges`, in ascending order. At most O(n m log n).
//
// `prices`, unless null, gets one per vertex, none of them negative, that prove it: together with prices of
// odd sets of vertices (which are not told) they sum up to the weight of the matching, and no edge weighs
// more than its ends and the sets around both cost.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges,
                                  std::vector<double>* prices = nullptr);

}  // namespace crossover::placement
