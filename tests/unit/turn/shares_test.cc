#include "turn/shares.h"

#include <gtest/gtest.h>

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

TEST(FairRate, IsOneUntilTheGpuIsFull) {
  const Demand half{10 * kMs, 10 * kMs};
  const Demand demands[] = {half, half, half};
  EXPECT_DOUBLE_EQ(FairRate(demands, 0), 1);
  EXPECT_DOUBLE_EQ(FairRate(demands, 2), 1);
  EXPECT_DOUBLE_EQ(FairRate(demands, 3), 2.0 / 3);
}

// The pairs of docs/design/0005.
TEST(WholeTurnsRate, IsFairToEqualJobsAndStarvesShortOnes) {
  const Demand equal[] = {{20 * kMs, 12 * kMs}, {20 * kMs, 12 * kMs}};
  EXPECT_DOUBLE_EQ(WholeTurnsRate(equal, 2), FairRate(equal, 2));
  const Demand unequal[] = {{10 * kMs, 10 * kMs}, {40 * kMs, 8 * kMs}};
  EXPECT_DOUBLE_EQ(WholeTurnsRate(unequal, 2), 20.0 / 50);
  EXPECT_NEAR(FairRate(unequal, 2), 0.75, 1e-9);
}

TEST(TurnsDue, AreTheRatioOfTheIterationsOnAverage) {
  const Demand brief{10 * kMs, 10 * kMs};
  const Demand other{40 * kMs, 8 * kMs};
  for (const std::uint32_t first : {0u, 12'345u}) {
    std::uint32_t due = 0;
    for (std::uint32_t i = 0; i < 100; ++i) {
      const std::uint32_t turns = TurnsDue(brief, other, first + i);
      EXPECT_TRUE(turns == 2 || turns == 3);
      due += turns;
    }
    EXPECT_NEAR(due, 240, 3);
  }
}

TEST(TurnsDue, DoNotChangeWithWhatAnotherArbiterMeasuresSlightlyDifferently) {
  const Demand brief{10 * kMs, 10 * kMs};
  int same = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    same += TurnsDue(brief, {40 * kMs, 8 * kMs}, i) == TurnsDue(brief, {40 * kMs + kMs / 10, 8 * kMs}, i);
  }
  EXPECT_GE(same, 990);
}

TEST(TurnsDue, OfAnEqualJobIsOne) {
  const Demand demand{20 * kMs, 12 * kMs};
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(TurnsDue(demand, demand, i), 1u);
}

}  // namespace
}  // namespace crossover::turn::test
