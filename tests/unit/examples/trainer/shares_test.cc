#include "examples/trainer/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace crossover::trainer {
namespace {

std::string Wrong(std::string_view text, std::uint32_t world) {
  const auto parsed = ParseWeights("FILE", text, world);
  const auto* wrong = std::get_if<std::string>(&parsed);
  return wrong == nullptr ? "" : *wrong;
}

TEST(SharesTest, AFileHasAWeightForEachRank) {
  EXPECT_EQ(std::get<Weights>(ParseWeights("FILE", " 1000\t1 \r\n1000000\n", 3)),
            (Weights{1000, 1, 1'000'000}));
  EXPECT_EQ(Wrong("1 2", 3), "FILE: weights: expected one for each of 3 ranks, got 2");
  EXPECT_EQ(Wrong("", 1), "FILE: weights: expected one for each of 1 ranks, got 0");
  EXPECT_EQ(Wrong("1 0 1", 3), "FILE: weight of rank 1: expected a whole number from 1 to 1000000, got 0");
  EXPECT_EQ(Wrong("1 1000001", 2),
            "FILE: weight of rank 1: expected a whole number from 1 to 1000000, got 1000001");
  EXPECT_EQ(Wrong("0.5 1", 2), "FILE: weight of rank 0: expected a whole number from 1 to 1000000, got 0.5");
  EXPECT_EQ(Wrong("1,1", 2), "FILE: weight of rank 0: expected a whole number from 1 to 1000000, got 1,1");
  EXPECT_EQ(Wrong("-1", 1), "FILE: weight of rank 0: expected a whole number from 1 to 1000000, got -1");
}

TEST(SharesTest, ABatchIsDividedByTheWeights) {
  const auto divided = [](std::uint32_t batch, const Weights& weights) { return Divide(batch, weights); };
  using Shares = std::vector<std::uint32_t>;
  EXPECT_EQ(divided(32, {1, 1, 1, 1}), (Shares{8, 8, 8, 8}));
  EXPECT_EQ(divided(44, {1000, 1000, 500, 250}), (Shares{16, 16, 8, 4}));
  EXPECT_EQ(divided(32, {1000, 1000, 500, 250}), (Shares{12, 11, 6, 3})) << "11.6, 11.6, 5.8, 2.9";
  EXPECT_EQ(divided(10, {1, 1, 1}), (Shares{4, 3, 3})) << "of equal remainders the first";
  EXPECT_EQ(divided(4, {1'000'000, 1, 1, 1}), (Shares{1, 1, 1, 1})) << "each rank has one image";
  EXPECT_EQ(divided(6, {1'000'000, 1, 1}), (Shares{4, 1, 1}));
}

TEST(SharesTest, SharesOfAnyWeightsAddUpAndAreOffByLessThanOneImage) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Weights weights(1 + random() % 64);
    for (std::uint32_t& weight : weights)
      weight = static_cast<std::uint32_t>(kMostWeight / 4 + random() % (kMostWeight / 2));
    const auto total = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}));
    const auto batch = static_cast<std::uint32_t>(4 * weights.size() + random() % 4096);
    const std::vector<std::uint32_t> shares = Divide(batch, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), batch);
    for (std::size_t rank = 0; rank < weights.size(); ++rank)
      EXPECT_LT(std::abs(shares[rank] - batch * (weights[rank] / total)), 1.0);
  }
}

TEST(SharesTest, NoRankIsWithoutImages) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Weights weights(1 + random() % 64);
    for (std::uint32_t& weight : weights) weight = 1 + static_cast<std::uint32_t>(random()) % kMostWeight;
    weights[random() % weights.size()] = kMostWeight;
    const auto batch = static_cast<std::uint32_t>(weights.size() + random() % 8);
    const std::vector<std::uint32_t> shares = Divide(batch, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), batch);
    EXPECT_GE(*std::ranges::min_element(shares), 1u);
  }
}

TEST(SharesTest, DigestsTellWeightsApartAndAreExactInFloat) {
  const Weights a = {1000, 500}, b = {500, 1000};
  EXPECT_EQ(WeightsDigest(a), WeightsDigest(Weights{1000, 500}));
  EXPECT_NE(WeightsDigest(a), WeightsDigest(b));
  for (std::uint32_t weight = 1; weight < 2000; ++weight) {
    const std::uint32_t digest = WeightsDigest(Weights{weight});
    EXPECT_GT(digest, 0u);
    EXPECT_EQ(static_cast<std::uint32_t>(static_cast<float>(digest)), digest);
  }
}

}  // namespace
}  // namespace crossover::trainer
