#include "examples/reductions/quantized.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "examples/reductions/cast.h"
#include "tests/unit/examples/reductions/samples.h"

namespace crossover::reductions {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const shrink::Rounding kRounding{7, 3};
const std::vector<shrink::Topology> kTopologies = {{2, 1}, {3, 1}, {4, 1}, {2, 2}, {3, 2}, {2, 4}};

std::vector<Floats> Reduced(const shrink::Topology& topology, const std::vector<Floats>& values,
                            const Quantizer& quantizer) {
  World world(topology);
  return RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
    ReduceQuantized(rank.groups, of, quantizer, kRounding);
  });
}

std::vector<Floats> Cast(const shrink::Topology& topology, const std::vector<Floats>& values) {
  World world(topology);
  return RunAll(world, values, [](ThreadRank& rank, std::span<float> of) { ReduceAsBf16(*rank.all, of); });
}

TEST(QuantizedTest, EightBitsAreThoseOfTheOracle) {
  for (const shrink::Topology& topology : kTopologies) {
    for (const std::size_t count : {1u, 511u, 512u, 513u, 2048u, 7434u}) {
      const auto values = Gaussian(topology.ranks(), count, count);
      const auto expected =
          shrink::ExchangeHierarchical(values, topology, {8, EightBits().rule.bucket}, kRounding);
      ASSERT_TRUE(expected.has_value());
      const auto found = Reduced(topology, values, EightBits());
      for (std::size_t r = 0; r < found.size(); ++r)
        EXPECT_EQ(AllBits(found[r]), AllBits(expected->values[r])) << count << " values, rank " << r;
    }
  }
}

TEST(QuantizedTest, AllRanksEndWithTheSameBits) {
  for (const shrink::Topology& topology : kTopologies) {
    for (const std::size_t count : {1u, 129u, 3000u, 7434u}) {
      const auto values = Gaussian(topology.ranks(), count, 1);
      EXPECT_TRUE(AreEqual(Reduced(topology, values, EightBits()))) << count;
      EXPECT_TRUE(AreEqual(Reduced(topology, values, AdaptiveBits()))) << count;
      EXPECT_TRUE(AreEqual(Cast(topology, values))) << count;
    }
  }
}

TEST(QuantizedTest, BytesAreThoseOfTheFormula) {
  World world({4, 1});
  const std::size_t count = 8192;
  RunAll(world, Gaussian(4, count, 1), [&](ThreadRank& rank, std::span<float> of) {
    ReduceQuantized(rank.groups, of, EightBits(), kRounding);
  });
  for (std::size_t r = 0; r < 4; ++r)
    EXPECT_EQ(world.rank(r).across->sent(), 2 * 3 * shrink::EncodedBytes(count / 4, 8, 512)) << r;
}

TEST(QuantizedTest, ErrorsAreThoseOfTheCodec) {
  const auto values = Gaussian(4, 65'536, 5);
  const auto exact = SumOf(values);
  // One encoding has 1.0e-4 with buckets of 512; two of them for all but the owner's part have 2 - 1 / N
  // times that.
  EXPECT_NEAR(RelativeError(Reduced({4, 1}, values, EightBits())[0], exact), 9e-5 * 1.75, 4e-5);
  // Its budget is the error of 4 bits with buckets of 128, 0.019 for one encoding.
  EXPECT_LT(RelativeError(Reduced({4, 1}, values, AdaptiveBits())[0], exact), 0.019 * 1.75 * 1.1);
  EXPECT_LT(RelativeError(Cast({4, 1}, values)[0], exact), 3e-5);
  // Two bits to the nearest level are known to be bad.
  EXPECT_GT(RelativeError(Reduced({4, 1}, values, TwoBitsToNearest())[0], exact), 0.2);
}

// Sums many calls. Errors without bias cancel.
TEST(QuantizedTest, EightBitsHaveNoBiasAndTwoToTheNearestHave) {
  const auto values = Gaussian(2, 512, 9);
  const auto exact = SumOf(values);
  const auto bias = [&](const Quantizer& quantizer) {
    constexpr int kCalls = 200;
    std::vector<double> mean(512, 0);
    World world({2, 1});
    for (int call = 0; call < kCalls; ++call) {
      const auto found = RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
        ReduceQuantized(rank.groups, of, quantizer, {1, static_cast<std::uint64_t>(call)});
      });
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += found[0][i] / kCalls;
    }
    double error = 0, all = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      error += std::pow(mean[i] - exact[i], 2);
      all += exact[i] * exact[i];
    }
    return error / all;
  };
  EXPECT_LT(bias(EightBits()), 3e-6);  // 1.5e-4 / 200 without bias
  EXPECT_GT(bias(TwoBitsToNearest()), 0.05);
}

TEST(QuantizedTest, AdaptiveBitsTakeFewerBytesWhereChunksDiffer) {
  auto values = Gaussian(2, 8 * 512, 3);
  for (Floats& of : values) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] *= std::ldexp(1.0f, static_cast<int>(i / 512));
  }
  const auto sent = [&](const Quantizer& quantizer) {
    World world({2, 1});
    RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
      ReduceQuantized(rank.groups, of, quantizer, kRounding);
    });
    return world.rank(0).across->sent() + world.rank(1).across->sent();
  };
  Quantizer uniform = AdaptiveBits();
  uniform.bits = 4;
  EXPECT_LT(static_cast<double>(sent(AdaptiveBits())), 0.8 * static_cast<double>(sent(uniform)));
}

TEST(QuantizedTest, WhatIsNotFiniteIsNotFiniteOnEveryRank) {
  for (const shrink::Topology& topology : kTopologies) {
    for (const float bad : {kNaN, kInfinity, -kInfinity}) {
      auto values = Gaussian(topology.ranks(), 3000, 2);
      values[1][1700] = bad;
      for (const auto& found : {Reduced(topology, values, EightBits()),
                                Reduced(topology, values, AdaptiveBits()), Cast(topology, values)}) {
        EXPECT_TRUE(AreEqual(found));
        for (const Floats& of : found) {
          EXPECT_FALSE(std::isfinite(of[1700]));
          EXPECT_TRUE(std::isfinite(of[0])) << "another bucket";
        }
      }
    }
  }
}

TEST(QuantizedTest, ConstantsAndZerosComeBackExactly) {
  for (const float value : {0.0f, 1.5f, -1e-30f}) {
    const std::vector<Floats> values(4, Floats(1500, value));
    for (const auto& found :
         {Reduced({4, 1}, values, EightBits()), Reduced({4, 1}, values, AdaptiveBits())}) {
      for (const float sum : found[2]) EXPECT_EQ(sum, 4 * value);
    }
  }
}

TEST(GroupsTest, TheTopologyFollowsFromLocalRanks) {
  const auto of = [](const std::vector<std::uint32_t>& local) {
    const auto found = TopologyOf(local);
    if (const auto* text = std::get_if<std::string>(&found)) return *text;
    const auto& topology = std::get<shrink::Topology>(found);
    return std::to_string(topology.nodes) + "x" + std::to_string(topology.per_node);
  };
  EXPECT_EQ(of({0, 1, 0, 1}), "2x2");
  EXPECT_EQ(of({0, 0, 0}), "3x1");
  EXPECT_EQ(of({0, 1, 2}), "3x1") << "on one node each rank counts as a node";
  EXPECT_EQ(of({0, 1, 1, 0}),
            "environment: LOCAL_RANK of rank 2: expected 0, as each node has 2 ranks that follow each other, "
            "got 1");
  EXPECT_EQ(of({0, 1, 0}), "environment: WORLD_SIZE: expected a multiple of the 2 ranks of a node, got 3");
}

}  // namespace
}  // namespace crossover::reductions
