#include "examples/trainer/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace crossover::trainer {
namespace {

class BucketsTest : public testing::TestWithParam<std::pair<std::uint64_t, double>> {};

TEST_P(BucketsTest, EveryParameterAndAllPaddingTravelsOnce) {
  const auto [bytes, share] = GetParam();
  const BucketPlan plan = PlanBuckets(bytes, share);
  ASSERT_EQ(plan.begin.size(), kBuckets + 1);
  ASSERT_EQ(plan.source.size(), plan.total());
  std::vector<std::uint32_t> sorted = plan.source;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < plan.total(); ++i) EXPECT_EQ(sorted[i], i);
}

TEST_P(BucketsTest, AnEarlyBucketHoldsOnlyWhatIsReady) {
  const auto [bytes, share] = GetParam();
  const BucketPlan plan = PlanBuckets(bytes, share);
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    for (std::uint32_t i = plan.begin[b]; i < plan.begin[b + 1]; ++i) {
      const bool padding = plan.source[i] >= kParameters;
      EXPECT_TRUE(padding || plan.source[i] >= LayerOffset(ReadyAfterLayer(b)));
    }
    EXPECT_GE(plan.size(b), 1u);
  }
}

TEST_P(BucketsTest, BytesAndEarlyShareAreAsAsked) {
  const auto [bytes, share] = GetParam();
  const BucketPlan plan = PlanBuckets(bytes, share);
  EXPECT_GE(plan.total() * 4ull, bytes);
  EXPECT_LE(plan.begin[kEarlyBuckets], std::max<double>(plan.total() * share, kEarlyBuckets));
  EXPECT_GE(plan.begin[kEarlyBuckets] + kEarlyBuckets, plan.total() * share);
  if (bytes >= 100'000) {
    EXPECT_EQ(plan.total(), (bytes + 3) / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, BucketsTest,
                         testing::Values(std::pair{0ull, 0.02}, std::pair{0ull, 0.0}, std::pair{0ull, 0.5},
                                         std::pair{64'000ull, 0.02}, std::pair{100'001ull, 0.5},
                                         std::pair{1'000'000ull, 0.02}, std::pair{0ull, 0.9}));

TEST(BucketsTest, WithoutPaddingTheModelsOwnBytesTravel) {
  EXPECT_EQ(PlanBuckets(0, 0.02).total(), kParameters);
}

}  // namespace
}  // namespace crossover::trainer
