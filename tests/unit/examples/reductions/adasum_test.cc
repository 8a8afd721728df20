#include "examples/reductions/adasum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "tests/unit/examples/reductions/samples.h"

namespace crossover::reductions {
namespace {

using Doubles = std::vector<double>;
using Borders = std::vector<std::size_t>;

std::vector<Floats> Combined(const std::vector<Floats>& values, const Borders& tensors) {
  World world({values.size(), 1});
  return RunAll(world, values,
                [&](ThreadRank& rank, std::span<float> of) { ReduceByAdasum(*rank.all, of, tensors); });
}

// Returns the Adasum of two tensors by the formula.
Doubles AdasumOf(const Doubles& a, const Doubles& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  const double least = std::sqrt(DBL_MIN);
  const double of_a = aa < least ? 1 : 1 - ab / (2 * aa), of_b = bb < least ? 1 : 1 - ab / (2 * bb);
  Doubles sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(of_a * a[i] + of_b * b[i]);
  return sum;
}

// Returns what the tree of pairs over [begin, end) makes of a tensor, by recursion.
Doubles TreeOf(const std::vector<Doubles>& ranks, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return ranks[begin];
  const std::size_t middle = (begin + end) / 2;
  return AdasumOf(TreeOf(ranks, begin, middle), TreeOf(ranks, middle, end));
}

// Returns the oracle for all tensors.
Doubles Expected(const std::vector<Floats>& values, const Borders& tensors) {
  Doubles all;
  for (std::size_t t = 0; t + 1 < tensors.size(); ++t) {
    std::vector<Doubles> ranks;
    for (const Floats& of : values)
      ranks.emplace_back(of.begin() + static_cast<std::ptrdiff_t>(tensors[t]),
                         of.begin() + static_cast<std::ptrdiff_t>(tensors[t + 1]));
    const Doubles tree = TreeOf(ranks, 0, ranks.size());
    all.insert(all.end(), tree.begin(), tree.end());
  }
  return all;
}

const Borders kTensors = {0, 1, 300, 300, 811, 1000};

TEST(AdasumTest, TheTreeIsThatOfARecursion) {
  for (const std::size_t ranks : {2u, 4u, 8u, 16u}) {
    for (const std::size_t count : {5u, 64u, 1000u}) {
      Borders tensors;
      for (const std::size_t border : kTensors) tensors.push_back(std::min(border, count));
      const auto values = Gaussian(ranks, count, ranks + count);
      const auto found = Combined(values, tensors);
      EXPECT_TRUE(AreEqual(found)) << ranks << " ranks, " << count;
      EXPECT_LT(RelativeError(found[0], Expected(values, tensors)), 1e-12) << ranks << " ranks, " << count;
    }
  }
}

// One product for all tensors, as one for each fused buffer would be, and another order of ranks give
// something else.
TEST(AdasumTest, TensorsAndTheOrderOfRanksMatter) {
  auto values = Gaussian(4, 1000, 5);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t i = 0; i < 300; ++i) values[r][i] = values[0][i];  // tensors that all ranks agree on
  }
  const auto expected = Expected(values, kTensors);
  EXPECT_LT(RelativeError(Combined(values, kTensors)[0], expected), 1e-12);
  EXPECT_GT(RelativeError(Combined(values, {0, 1000})[0], expected), 1e-3);
  std::swap(values[1], values[2]);
  EXPECT_GT(RelativeError(Combined(values, kTensors)[0], expected), 1e-6);
}

TEST(AdasumTest, EqualGradientsGiveThemselves) {
  for (const std::size_t ranks : {2u, 4u, 8u}) {
    const std::vector<Floats> values(ranks, Gaussian(1, 1000, 3)[0]);
    EXPECT_EQ(AllBits(Combined(values, kTensors)[1]), AllBits(values[0])) << ranks;
  }
}

TEST(AdasumTest, OrthogonalGradientsGiveTheirSum) {
  std::vector<Floats> values(4, Floats(1000, 0));
  const Floats each = Gaussian(1, 1000, 4)[0];
  for (std::size_t i = 0; i < 1000; ++i) values[i % 4][i] = each[i];
  EXPECT_EQ(AllBits(Combined(values, kTensors)[3]), AllBits(each));
  EXPECT_EQ(AllBits(Combined(values, kTensors)[0]), AllBits(each));
}

TEST(AdasumTest, ItIsCommutative) {
  auto values = Gaussian(2, 1000, 6);
  const auto one = Combined(values, kTensors);
  std::swap(values[0], values[1]);
  EXPECT_EQ(AllBits(one[0]), AllBits(Combined(values, kTensors)[0]));
}

TEST(AdasumTest, ItIsHomogeneous) {
  const auto values = Gaussian(4, 1000, 7);
  const auto one = Combined(values, kTensors);
  for (const float scale : {0x1p20f, 0x1p-20f, -1.0f}) {  // rounding commutes with these
    auto scaled = values;
    for (Floats& of : scaled) {
      for (float& value : of) value *= scale;
    }
    auto expected = one[0];
    for (float& value : expected) value *= scale;
    EXPECT_EQ(AllBits(Combined(scaled, kTensors)[0]), AllBits(expected)) << scale;
  }
}

TEST(AdasumTest, TinyGradientsAreAdded) {
  const Coefficients tiny = CoefficientsOf({1e-160, 1e-160, 1});
  EXPECT_EQ(tiny.a, 1);
  EXPECT_NEAR(tiny.b, 1, 1e-12);
  EXPECT_EQ(CoefficientsOf({1, 1, 1}).a, 0.5);
  const std::vector<Floats> zeros(4, Floats(10, 0));
  EXPECT_EQ(AllBits(Combined(zeros, {0, 10})[0]), AllBits(zeros[0]));
}

TEST(AdasumTest, BytesAreThoseOfTheFormula) {
  for (const std::size_t ranks : {2u, 4u, 8u}) {
    World world({ranks, 1});
    RunAll(world, Gaussian(ranks, 1024, 1), [](ThreadRank& rank, std::span<float> of) {
      ReduceByAdasum(*rank.all, of, Borders{0, 100, 1000, 1024});
    });
    for (std::size_t r = 0; r < ranks; ++r)
      EXPECT_EQ(world.rank(r).all->sent(), AdasumBytes(ranks, 1024, 3)) << ranks << " ranks";
  }
  EXPECT_EQ(AdasumBytes(4, 1024, 3), 2 * 768 * 4 + (1 + 2) * 24 * 3u);
}

// Products of the own piece only, without the sum over ranks, are known to be bad: ranks disagree on
// coefficients.
TEST(AdasumTest, ProductsOfOnePieceAreNotThoseOfTheTensor) {
  const auto values = Gaussian(2, 1000, 8);
  const auto expected = Expected(values, {0, 1000});
  const auto pieces = Expected(values, {0, 500, 1000});  // as if each half were a tensor
  double difference = 0;
  for (std::size_t i = 0; i < 1000; ++i) difference = std::max(difference, std::abs(pieces[i] - expected[i]));
  EXPECT_GT(difference, 1e-3);
}

TEST(AdasumTest, WhatIsNotFiniteIsNotFiniteOnEveryRank) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto values = Gaussian(4, 1000, 9);
    values[2][500] = bad;
    const auto found = Combined(values, kTensors);
    EXPECT_TRUE(AreEqual(found));
    EXPECT_TRUE(std::isnan(found[0][400])) << "the same tensor";
    EXPECT_TRUE(std::isfinite(found[0][900])) << "another tensor";
  }
}

TEST(AdasumTest, OnlyPowersOfTwoAreTaken) {
  for (const std::size_t ranks : {2u, 4u, 64u}) EXPECT_TRUE(IsPowerOfTwo(ranks));
  for (const std::size_t ranks : {0u, 1u, 3u, 6u, 12u}) EXPECT_FALSE(IsPowerOfTwo(ranks));
}

// Runs gradient descent in the bowl 0.5 x^2 + 0.5 y^2 with two ranks, of which each sees one half of it.
// Returns the steps until it is near the bottom, or 0.
int StepsDown(double rate, bool adasum, double scale_of_sum) {
  Floats x = {1, 1};
  for (int step = 1; step <= 1000; ++step) {
    std::vector<Floats> gradients = {{x[0], 0}, {0, x[1]}};
    Floats by(2);
    if (adasum) {
      by = Combined(gradients, {0, 2})[0];
    } else {
      for (std::size_t i = 0; i < 2; ++i)
        by[i] = static_cast<float>(scale_of_sum) * (gradients[0][i] + gradients[1][i]);
    }
    for (std::size_t i = 0; i < 2; ++i) x[i] -= static_cast<float>(rate) * by[i];
    if (std::abs(x[0]) + std::abs(x[1]) < 1e-3f) return step;
  }
  return 0;
}

TEST(AdasumTest, ItNeedsFewerStepsThanAnAverageWhereRanksHaveNothingInCommon) {
  const int adasum = StepsDown(0.5, true, 0), average = StepsDown(0.5, false, 0.5);
  EXPECT_GT(adasum, 0);
  EXPECT_LT(adasum, average);
}

// Where ranks agree, a sum at 2.5 times the rate of one rank diverges, and Adasum does not.
TEST(AdasumTest, ItDoesNotDivergeWhereASumDoes) {
  const auto far_after = [](bool adasum) {
    float x = 1;
    for (int step = 0; step < 50; ++step) {
      const std::vector<Floats> gradients(4, Floats{x});
      const float by = adasum ? Combined(gradients, {0, 1})[0][0] : 4 * x;
      x -= 0.6f * by;  // one rank diverges from 2 on
    }
    return std::abs(x);
  };
  EXPECT_LT(far_after(true), 1e-6f);
  EXPECT_GT(far_after(false), 1e3f);
}

}  // namespace
}  // namespace crossover::reductions
