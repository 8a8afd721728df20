// The heaviest matching of a graph, exactly. Pure.
#pragma once

#include <cstddef>
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

// What the ends of edges cost, and odd sets of vertices: none of it negative. Together they prove a matching
// to be the heaviest: each price of a vertex, and of each set half its price for all but one of its vertices,
// sum up to the weight of the matching, and no edge weighs more than its ends and the sets around both cost.
class Prices {
 public:
  explicit Prices(int vertices = 0);
  // Each vertex once; sets are nested or apart, and those around others come first.
  void SetVertex(int vertex, double price);
  void AddSet(const std::vector<int>& vertices, double price);

  double OfVertex(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }
  // What an edge between these costs.
  double Of(int a, int b) const;
  // No matching of edges that cost at least what they weigh weighs more.
  double Sum() const { return sum_; }

 private:
  struct Around {
    int set;
    double price;  // of it and all sets around it
  };

  std::vector<double> vertices_;
  std::vector<std::vector<Around>> around_;  // per vertex, the outermost set first
  int sets_ = 0;
  double sum_ = 0;
};

// Edges of which no two meet, of the largest sum of weights there is; exact but for weights being rounded to
// 2^-40 of the heaviest. Vertices are 0 to `vertices` - 1; edges with no weight, loops and edges to vertices
// that are not there count as absent. Returns places in `edges`, in ascending order. At most O(n m log n).
// `prices`, unless null, gets the proof.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges, Prices* prices = nullptr);

}  // namespace crossover::placement
