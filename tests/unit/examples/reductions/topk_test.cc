#include "examples/reductions/topk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/unit/examples/reductions/samples.h"

namespace crossover::reductions {
namespace {

double Square(float value) { return static_cast<double>(value) * value; }

double EnergyOf(const Floats& values, const std::vector<std::uint32_t>& indices) {
  double energy = 0;
  for (const std::uint32_t i : indices) energy += Square(values[i]);
  return energy;
}

// Returns the energy of the k largest, found by a sort.
double MostEnergy(Floats values, std::size_t k) {
  std::ranges::sort(values, [](float a, float b) { return std::abs(a) > std::abs(b); });
  double energy = 0;
  for (std::size_t i = 0; i < k; ++i) energy += Square(values[i]);
  return energy;
}

TEST(TopKTest, ExactlyKDistinctIndicesAreTaken) {
  std::vector<Floats> inputs = {
      Floats(1000, 0), Floats(1000, 2.5f), Gaussian(1, 1000, 1)[0], {3}, {1, -1, 1, 1}};
  inputs.push_back(Floats(1000, 1));
  inputs.back()[500] = 1e30f;  // all others lie at the least magnitude
  for (const Floats& values : inputs) {
    for (std::size_t k = 0; k <= values.size(); k = k < 20 ? k + 1 : k * 2) {
      for (const unsigned bisections : {0u, 1u, 5u, 10u, 40u}) {
        const Selection found = SelectTopK(values, k, bisections, k * 977 + bisections);
        const std::set<std::uint32_t> distinct(found.indices.begin(), found.indices.end());
        EXPECT_EQ(distinct.size(), k);
        EXPECT_EQ(found.indices.size(), k);
        EXPECT_TRUE(std::ranges::all_of(distinct, [&](std::uint32_t i) { return i < values.size(); }));
      }
    }
    EXPECT_EQ(SelectTopK(values, values.size(), 10, 1).indices.size(), values.size());
  }
}

// A threshold from a sample of the values is known to be bad.
TEST(TopKTest, AThresholdFromASampleMissesK) {
  const Floats values = Gaussian(1, 100'000, 3)[0];
  const std::size_t k = 1000;
  std::vector<float> sample;
  for (std::size_t i = 0; i < values.size(); i += 1000) sample.push_back(std::abs(values[i]));
  std::ranges::sort(sample, std::greater<>());
  const float threshold = sample[sample.size() * k / values.size()];
  const auto taken = std::ranges::count_if(values, [&](float v) { return std::abs(v) >= threshold; });
  EXPECT_GT(std::abs(static_cast<double>(taken) / k - 1), 0.1);
  EXPECT_EQ(SelectTopK(values, k, kBisections, 1).indices.size(), k);
}

TEST(TopKTest, TheEnergyIsWithinTheBoundOfTheExactOne) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Floats values = Gaussian(1, 50'000, seed)[0];
    for (const std::size_t k : {50u, 500u, 5000u}) {
      const double most = MostEnergy(values, k), all = MostEnergy(values, values.size());
      for (const unsigned bisections : {1u, 3u, 5u, 10u}) {
        const Selection found = SelectTopK(values, k, bisections, seed);
        const double energy = EnergyOf(values, found.indices);
        const float t1 =
            std::isfinite(found.t1)
                ? found.t1
                : std::abs(*std::ranges::max_element(values, {}, [](float v) { return std::abs(v); }));
        EXPECT_GE(energy, most - static_cast<double>(k - found.exact) * (Square(t1) - Square(found.t2)) -
                              1e-9 * most);
        EXPECT_GE(energy, static_cast<double>(k) / static_cast<double>(values.size()) * all) << "contraction";
        EXPECT_GE(energy, (bisections >= 10 ? 0.999 : 0) * most);
      }
      std::vector<std::uint32_t> first(k);
      for (std::uint32_t i = 0; i < k; ++i) first[i] = i;
      EXPECT_LT(EnergyOf(values, first), 0.5 * most) << "the first k are known to be bad";
    }
  }
}

TEST(TopKTest, ValuesAreTheSparseOnesAndTheResidualBitForBit) {
  const auto values = Gaussian(4, 2000, 4);
  World world({4, 1});
  std::vector<TopK> states(4, TopK(0.01, 1));
  const auto sums = RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
    states[rank.groups.seat.rank].Reduce(rank.groups, of, 0);
  });
  EXPECT_TRUE(AreEqual(sums));
  std::vector<Floats> sparse;
  for (std::size_t r = 0; r < 4; ++r) {
    sparse.push_back(Floats(2000, 0));
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
      const float kept = states[r].residual()[i];
      if (kept == 0) sparse[r][i] = values[r][i];
      EXPECT_EQ(shrink::BitsOf(sparse[r][i] + kept), shrink::BitsOf(values[r][i]));
      taken += kept == 0;
    }
    EXPECT_EQ(taken, 20u);
    EXPECT_EQ(world.rank(r).across->sent(), 3u * 20 * 8) << "the formula: (nodes - 1) k (4 + 4)";
  }
  const auto expected = SumOf(sparse);
  for (std::size_t i = 0; i < 2000; ++i) EXPECT_FLOAT_EQ(sums[0][i], static_cast<float>(expected[i]));
}

TEST(TopKTest, NodesAddWithoutLossAndSendEachOtherTheirShards) {
  const shrink::Topology topology{2, 3};
  const auto values = Gaussian(6, 3001, 6);
  World world(topology);
  std::vector<TopK> states(6, TopK(1, 1));
  const auto found = RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
    states[rank.groups.seat.rank].Reduce(rank.groups, of, 0);
  });
  EXPECT_TRUE(AreEqual(found));
  EXPECT_LT(RelativeError(found[0], SumOf(values)), 1e-12) << "density 1 is a sum";
  EXPECT_EQ(world.rank(0).across->sent(), 1001u * 8);
  EXPECT_EQ(world.rank(5).across->sent(), 999u * 8);
}

// Runs gradient descent in a bowl, 0.5 sum_i w_i (x_i - c_ri)^2 on rank r: all ranks together have their
// least value where x is the mean of the c_r, and there no rank's own gradient is 0. Returns the distance
// from it.
double DistanceAfter(int steps, bool keeps_residual) {
  constexpr std::size_t kRanks = 4, kSize = 100;
  const auto centers = Gaussian(kRanks, kSize, 11);
  const auto sum = SumOf(centers);
  std::vector<TopK> states(kRanks, TopK(0.05, 1, keeps_residual));
  World world({kRanks, 1});
  Floats x(kSize, 0);
  for (int step = 0; step < steps; ++step) {
    std::vector<Floats> gradients;
    for (const Floats& center : centers) {
      gradients.emplace_back();
      for (std::size_t i = 0; i < kSize; ++i) gradients.back().push_back(x[i] - center[i]);
    }
    const auto reduced = RunAll(world, gradients, [&](ThreadRank& rank, std::span<float> of) {
      states[rank.groups.seat.rank].Reduce(rank.groups, of, static_cast<std::uint64_t>(step));
    });
    for (std::size_t i = 0; i < kSize; ++i) x[i] -= 0.04f * reduced[0][i] / kRanks;
  }
  double distance = 0;
  for (std::size_t i = 0; i < kSize; ++i) distance += std::pow(x[i] - sum[i] / kRanks, 2);
  return std::sqrt(distance / kSize);
}

TEST(TopKTest, ABowlIsDescendedWithTheResidualAndNotWithoutIt) {
  const double with = DistanceAfter(750, true);
  const double without = DistanceAfter(750, false);
  RecordProperty("with", std::to_string(with));
  RecordProperty("without", std::to_string(without));
  EXPECT_LT(with, 0.1);
  EXPECT_GT(without, 0.2);
  EXPECT_GT(DistanceAfter(1500, false), 0.9 * without) << "it stalls";
}

TEST(TopKTest, WhatIsNotFiniteReachesAllRanksAndNotTheResidual) {
  World world({2, 2});
  std::vector<TopK> states(4, TopK(0.1, 1));
  const auto reduce = [&](const std::vector<Floats>& values, std::uint64_t call) {
    return RunAll(world, values, [&](ThreadRank& rank, std::span<float> of) {
      states[rank.groups.seat.rank].Reduce(rank.groups, of, call);
    });
  };
  reduce(Gaussian(4, 100, 1), 0);
  const Floats before = states[0].residual();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto values = Gaussian(4, 100, 2);
    values[1][3] = bad;
    const auto found = reduce(values, 1);
    for (const Floats& of : found)
      EXPECT_TRUE(std::ranges::any_of(of, [](float value) { return std::isnan(value); }));
    EXPECT_TRUE(AreEqual(found));
    EXPECT_EQ(AllBits(states[0].residual()), AllBits(before));
  }
  for (const Floats& of : reduce(Gaussian(4, 100, 3), 2))
    EXPECT_TRUE(std::ranges::all_of(of, [](float value) { return std::isfinite(value); }));
}

}  // namespace
}  // namespace crossover::reductions
