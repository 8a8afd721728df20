// Makes random graphs, and matches them in known ways: by trying every matching, and greedily.
#pragma once

#include <cstdint>
#include <vector>

#include "extender/placement/matching.h"

namespace crossover::placement {

struct Instance {
  int vertices = 0;
  std::vector<Edge> edges;
};

// Returns a graph with up to ten vertices and edges of any density. Its weights are equal, whole, or of
// very different sizes.
Instance SmallInstance(std::uint64_t seed);
// Returns a graph of waiting gangs that need GPU, link and host by chance. With some seeds all gangs are of
// a few models; with others, pairs across namespaces are missing. The weight of an edge is what the two
// gangs would gain.
Instance GangInstance(std::uint64_t seed, int vertices);

double WeightOf(const std::vector<Edge>& edges, const std::vector<int>& chosen);
bool IsMatching(const std::vector<Edge>& edges, const std::vector<int>& chosen);
// Returns the weight of the heaviest matching, by trying every matching. It is for small graphs alone.
double BruteForce(const Instance& instance);
// Returns a matching that takes the heaviest edge first, which is known to be worse.
std::vector<int> Greedy(const Instance& instance);
// Returns the heaviest matching of the `each` heaviest edges of each vertex. It is known to be worse, too,
// because all vertices want the same few others.
std::vector<int> OfFavourites(const Instance& instance, std::size_t each);

}  // namespace crossover::placement
