#include "extender/placement/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace crossover::placement {
namespace {

double WeightOf(const std::vector<Edge>& edges, const std::vector<int>& chosen) {
  double weight = 0;
  for (const int i : chosen) weight += edges[static_cast<std::size_t>(i)].weight;
  return weight;
}

bool IsMatching(const std::vector<Edge>& edges, const std::vector<int>& chosen) {
  std::vector<int> ends;
  for (const int i : chosen) {
    ends.push_back(edges[static_cast<std::size_t>(i)].a);
    ends.push_back(edges[static_cast<std::size_t>(i)].b);
  }
  std::ranges::sort(ends);
  return std::ranges::adjacent_find(ends) == ends.end();
}

// Every way there is to match the vertices from `vertex` on.
double BruteForce(const std::vector<std::vector<double>>& weight, int vertex, unsigned used) {
  const int n = static_cast<int>(weight.size());
  while (vertex < n && (used >> vertex & 1u)) ++vertex;
  if (vertex >= n) return 0;
  double best = BruteForce(weight, vertex + 1, used | 1u << vertex);
  for (int other = vertex + 1; other < n; ++other) {
    const double w = weight[static_cast<std::size_t>(vertex)][static_cast<std::size_t>(other)];
    if ((used >> other & 1u) || w <= 0) continue;
    best = std::max(best, w + BruteForce(weight, vertex + 1, used | 1u << vertex | 1u << other));
  }
  return best;
}

// The heaviest edge first: what is known to be worse.
std::vector<int> Greedy(const std::vector<Edge>& edges) {
  std::vector<int> order(edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return edges[static_cast<std::size_t>(a)].weight > edges[static_cast<std::size_t>(b)].weight;
  });
  std::vector<int> chosen;
  for (const int i : order) {
    if (edges[static_cast<std::size_t>(i)].weight <= 0) continue;
    chosen.push_back(i);
    if (!IsMatching(edges, chosen)) chosen.pop_back();
  }
  return chosen;
}

struct Instance {
  int vertices;
  std::vector<Edge> edges;
  double best;
};

// Up to ten vertices, edges of every density; weights equal, whole or of very different sizes.
Instance Random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Instance made{.vertices = 2 + below(9), .edges = {}, .best = 0};
  const auto n = static_cast<std::size_t>(made.vertices);
  std::vector<std::vector<double>> weight(n, std::vector<double>(n, 0));
  const int density = 1 + below(10), kind = below(3);
  for (int a = 0; a < made.vertices; ++a) {
    for (int b = a + 1; b < made.vertices; ++b) {
      if (below(10) >= density) continue;
      double w = kind == 0 ? 1 : kind == 1 ? 1 + below(5) : static_cast<double>(below(1 << 20)) / (1 << 20);
      if (kind == 2 && below(4) == 0) w *= 1e-3;
      made.edges.push_back({a, b, w});
      weight[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = w;
    }
  }
  made.best = BruteForce(weight, 0, 0);
  return made;
}

constexpr std::uint64_t kInstances = 20'000;

TEST(HeaviestMatchingTest, IsAsHeavyAsBruteForceFinds) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = Random(seed);
    const std::vector<int> chosen = HeaviestMatching(instance.vertices, instance.edges);
    ASSERT_TRUE(IsMatching(instance.edges, chosen)) << "seed " << seed;
    ASSERT_NEAR(WeightOf(instance.edges, chosen), instance.best, 1e-9) << "seed " << seed;
  }
}

TEST(HeaviestMatchingTest, GreedyIsFoundToBeWorse) {
  int worse = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Instance instance = Random(seed);
    worse += WeightOf(instance.edges, Greedy(instance.edges)) < instance.best - 1e-9;
  }
  EXPECT_GT(worse, 50);
}

TEST(HeaviestMatchingTest, EdgesWithoutWeightAreAbsent) {
  EXPECT_TRUE(HeaviestMatching(0, {}).empty());
  EXPECT_TRUE(HeaviestMatching(3, {{0, 1, 0}, {1, 2, -1}}).empty());
  EXPECT_EQ(HeaviestMatching(3, {{0, 0, 5}, {0, 7, 5}, {-1, 1, 5}, {1, 2, 1}}), (std::vector<int>{3}));
}

TEST(HeaviestMatchingTest, TwoLightEdgesBeatAHeavyOne) {
  EXPECT_EQ(HeaviestMatching(4, {{0, 1, 2}, {1, 2, 3}, {2, 3, 2}}), (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace crossover::placement
