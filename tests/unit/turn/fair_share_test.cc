#include "turn/fair_share.h"

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

TEST(WorthBreaking, WhereAShortJobWouldWaitForLongTurns) {
  const Demand brief{10 * kMs, 10 * kMs};
  const Demand other{40 * kMs, 8 * kMs};
  EXPECT_TRUE(WorthBreaking(brief, other, 0.75));
  EXPECT_FALSE(WorthBreaking(other, brief, 0.75));
  EXPECT_FALSE(WorthBreaking({10 * kMs, 14 * kMs}, {15 * kMs, 40 * kMs}, 1)) << "it is away for as long";
}

TEST(WorthBreaking, NeverAmongEqualJobs) {
  for (const Time away : {4 * kMs, 12 * kMs, 20 * kMs}) {
    const Demand demand{20 * kMs, away};
    EXPECT_FALSE(WorthBreaking(demand, demand, 1));
    // On this GPU one of them seems to be away for longer: it waits for its other ranks (the order trap).
    EXPECT_FALSE(WorthBreaking(demand, {20 * kMs, away + 20 * kMs}, 1));
  }
}

TEST(TurnsWithin, AreOneLessThanTheRatioOfTheIterationsOnAverage) {
  const Demand brief{10 * kMs, 10 * kMs};
  const Demand other{40 * kMs, 8 * kMs};
  for (const std::uint32_t first : {0u, 12'345u}) {
    std::uint32_t within = 0;
    for (std::uint32_t i = 0; i < 100; ++i) {
      const std::uint32_t turns = TurnsWithin(brief, other, first + i);
      EXPECT_TRUE(turns == 1 || turns == 2);
      within += turns;
    }
    EXPECT_NEAR(within, 140, 3);
  }
}

TEST(TurnsWithin, AreFewerWhereMoreFindRoomWhileTheOtherIsAway) {
  const Demand brief{10 * kMs, 10 * kMs};
  EXPECT_EQ(TurnsWithin(brief, {60 * kMs, 20 * kMs}, 0), 2u);
  EXPECT_EQ(TurnsWithin(brief, {40 * kMs, 40 * kMs}, 0), 1u);
  EXPECT_EQ(TurnsWithin(brief, {20 * kMs, 80 * kMs}, 0), 0u);
}

TEST(TurnsWithin, DoNotChangeWithWhatAnotherArbiterMeasuresSlightlyDifferently) {
  const Demand brief{10 * kMs, 10 * kMs};
  int same = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    same +=
        TurnsWithin(brief, {40 * kMs, 8 * kMs}, i) == TurnsWithin(brief, {40 * kMs + kMs / 10, 8 * kMs}, i);
  }
  EXPECT_GE(same, 990);
}

}  // namespace
}  // namespace crossover::turn::test
