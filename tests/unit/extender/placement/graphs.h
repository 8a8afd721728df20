// Graphs at random, and ways to match them that are known: by trying everything, and greedily.
#pragma once

#include <cstdint>
#include <vector>

#include "extender/placement/matching.h"

namespace crossover::placement {

struct Instance {
  int vertices = 0;
  std::vector<Edge> edges;
};

// Up to ten vertices, edges of every density; weights equal, whole or of very different sizes.
Instance SmallInstance(std::uint64_t seed);
// As waiting gangs are: a few dozen to hundreds, who need GPU, link and host by chance, in some kinds all a
// few models alike; pairs across namespaces are missing in others. An edge weighs what the two would gain.
Instance GangInstance(std::uint64_t seed, int vertices);

double WeightOf(const std::vector<Edge>& edges, const std::vector<int>& chosen);
bool IsMatching(const std::vector<Edge>& edges, const std::vector<int>& chosen);
// The heaviest there is, by every way to match the vertices. For small ones alone.
double BruteForce(const Instance& instance);
// The heaviest edge first: what is known to be worse.
std::vector<int> Greedy(const Instance& instance);
// The heaviest matching of each vertex's heaviest edges alone: what is known to be worse, too, since all of
// them want the same few.
std::vector<int> OfFavourites(const Instance& instance, std::size_t each);

}  // namespace crossover::placement
