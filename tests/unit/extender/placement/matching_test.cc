#include "extender/placement/matching.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/graphs.h"

namespace crossover::placement {
namespace {

constexpr std::uint64_t kInstances = 20'000;

TEST(HeaviestMatchingTest, IsAsHeavyAsBruteForceFinds) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = SmallInstance(seed);
    const std::vector<int> chosen = HeaviestMatching(instance.vertices, instance.edges);
    ASSERT_TRUE(IsMatching(instance.edges, chosen)) << "seed " << seed;
    ASSERT_NEAR(WeightOf(instance.edges, chosen), BruteForce(instance), 1e-9) << "seed " << seed;
  }
}

TEST(HeaviestMatchingTest, GreedyIsFoundToBeWorse) {
  int worse = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Instance instance = SmallInstance(seed);
    worse += WeightOf(instance.edges, Greedy(instance)) < BruteForce(instance) - 1e-9;
  }
  EXPECT_GT(worse, 50);
}

// Prices prove that a matching is the heaviest: no edge weighs more than it costs, and the sum of all
// prices is the weight of the matching.
TEST(HeaviestMatchingTest, PricesProveIt) {
  int in_sets = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Instance instance = SmallInstance(seed);
    Prices prices;
    const std::vector<int> chosen = HeaviestMatching(instance.vertices, instance.edges, &prices);
    ASSERT_NEAR(prices.Sum(), WeightOf(instance.edges, chosen), 1e-9) << "seed " << seed;
    double of_vertices = 0;
    for (int vertex = 0; vertex < instance.vertices; ++vertex) {
      ASSERT_GE(prices.OfVertex(vertex), 0) << "seed " << seed;
      of_vertices += prices.OfVertex(vertex);
    }
    in_sets += of_vertices < prices.Sum() - 1e-9;
    for (const Edge& edge : instance.edges) {
      if (!Counts(edge, instance.vertices)) continue;
      ASSERT_GE(prices.Of(edge.a, edge.b), edge.weight - 1e-9) << "seed " << seed;
    }
  }
  EXPECT_GT(in_sets, 100);  // so many graphs need the prices of sets
}

TEST(PricesTest, AnEdgeCostsItsEndsAndTheSetsAroundBoth) {
  Prices prices(6);
  for (int vertex = 0; vertex < 6; ++vertex) prices.SetVertex(vertex, 1);
  prices.AddSet({0, 1, 2, 3, 4}, 0.5);
  prices.AddSet({0, 1, 2}, 0.25);
  EXPECT_EQ(prices.Of(0, 1), 2.75);
  EXPECT_EQ(prices.Of(2, 3), 2.5);
  EXPECT_EQ(prices.Of(3, 4), 2.5);
  EXPECT_EQ(prices.Of(4, 5), 2);
  EXPECT_EQ(prices.Sum(), 6 + 0.5 * 2 + 0.25);
}

TEST(HeaviestMatchingTest, EdgesWithoutWeightAreAbsent) {
  EXPECT_TRUE(HeaviestMatching(0, {}).empty());
  Prices prices;
  EXPECT_TRUE(HeaviestMatching(3, {{0, 1, 0}, {1, 2, -1}}, &prices).empty());
  EXPECT_EQ(prices.OfVertex(2), 0);
  EXPECT_EQ(prices.Sum(), 0);
  EXPECT_EQ(HeaviestMatching(3, {{0, 0, 5}, {0, 7, 5}, {-1, 1, 5}, {1, 2, 1}}), (std::vector<int>{3}));
}

TEST(HeaviestMatchingTest, TwoLightEdgesBeatAHeavyOne) {
  EXPECT_EQ(HeaviestMatching(4, {{0, 1, 2}, {1, 2, 3}, {2, 3, 2}}), (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace crossover::placement
