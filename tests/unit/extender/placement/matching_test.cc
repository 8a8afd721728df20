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

// Where no odd set of vertices costs anything, no edge weighs more than its ends cost, and what they cost is
// what the matching weighs: so it is in graphs without odd circles.
TEST(HeaviestMatchingTest, PricesProveIt) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Instance instance = SmallInstance(seed);
    std::erase_if(instance.edges, [](const Edge& edge) { return (edge.a + edge.b) % 2 == 0; });
    std::vector<double> prices;
    const std::vector<int> chosen = HeaviestMatching(instance.vertices, instance.edges, &prices);
    double sum = 0;
    for (const double price : prices) {
      ASSERT_GE(price, 0) << "seed " << seed;
      sum += price;
    }
    ASSERT_NEAR(sum, WeightOf(instance.edges, chosen), 1e-9) << "seed " << seed;
    for (const Edge& edge : instance.edges) {
      const double cost = prices[static_cast<std::size_t>(edge.a)] + prices[static_cast<std::size_t>(edge.b)];
      ASSERT_GE(cost, edge.weight - 1e-9) << "seed " << seed;
    }
  }
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
