// Computes an exact maximum weight matching of a graph. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace crossover::placement {

struct Edge {
  int a;
  int b;
  double weight;
};

// Returns whether the edge counts: it has a positive weight and two different ends that exist.
inline bool Counts(const Edge& edge, int vertices) {
  return edge.weight > 0 && edge.a != edge.b && edge.a >= 0 && edge.b >= 0 && edge.a < vertices &&
         edge.b < vertices;
}

// Prices are the dual solution of a matching: a price for each vertex and for some sets with an odd number
// of vertices. No price is negative. They prove that a matching has the largest weight, because two things
// hold. First, the prices of all vertices, plus for each set half its price times its number of vertices
// less one, sum up to the weight of the matching. Second, no edge weighs more than the prices of its two
// ends and of the sets that contain both.
class Prices {
 public:
  // Begins with a price of 0 for each vertex and without sets.
  explicit Prices(int vertices = 0);
  // Set the prices. REQUIRES: each vertex is set once; two sets are disjoint or one contains the other, and
  // the larger one is added first.
  void SetVertex(int vertex, double price);
  void AddSet(const std::vector<int>& vertices, double price);

  double OfVertex(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }
  // Returns the price of an edge between a and b: that of both vertices and of all sets that contain both.
  double Of(int a, int b) const;
  // Returns an upper bound on the weight of any matching whose edges weigh no more than their prices.
  double Sum() const { return sum_; }

 private:
  struct Around {
    int set;
    double price;  // sum for this set and all sets that contain it
  };

  std::vector<double> vertices_;
  std::vector<std::vector<Around>> around_;  // per vertex, the outermost set first
  int sets_ = 0;
  double sum_ = 0;
};

// Returns a matching of the largest weight, as indices into `edges` in ascending order. It is exact, except
// that weights are rounded to 2^-40 of the heaviest. Vertices are 0 to `vertices` - 1. Edges without a
// positive weight, loops, and edges to vertices that do not exist are ignored. Takes at most O(n m log n).
// `prices`, unless null, gets the proof.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges, Prices* prices = nullptr);

}  // namespace crossover::placement
