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

TEST(Shares, ProgressIsTimeAlone) {
  Shares shares;
  shares.Join(0);
  shares.Join(1);
  shares.Credit(0, 10 * kMs, {10 * kMs, 10 * kMs});
  shares.Credit(1, 20 * kMs, {40 * kMs, 8 * kMs});
  EXPECT_EQ(shares.progress(0), 20 * kMs);
  EXPECT_EQ(shares.progress(1), 24 * kMs);
}

TEST(Shares, WithoutKnowledgeProgressIsTheTimeServed) {
  Shares shares;
  shares.Credit(0, 10 * kMs, {});
  EXPECT_EQ(shares.progress(0), 10 * kMs);
}

TEST(Shares, ANewcomerIsOwedNothing) {
  Shares shares;
  shares.Credit(0, 10 * kMs, {10 * kMs, 10 * kMs});
  shares.Join(1);
  EXPECT_EQ(shares.progress(1), shares.progress(0));
}

TEST(Shares, NobodySavesUpForLater) {
  Shares shares;
  shares.Join(0);
  shares.Join(1);
  const Demand demand{10 * kMs, 10 * kMs};
  for (int i = 0; i < 100; ++i) shares.Credit(0, 10 * kMs, demand);
  EXPECT_EQ(shares.progress(0) - shares.progress(1), 40 * kMs) << "two iterations";
}

}  // namespace
}  // namespace crossover::turn::test
