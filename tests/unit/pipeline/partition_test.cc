#include "pipeline/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pipeline/draw.h"

namespace crossover::pipeline {
namespace {

Time LeastOf(const Problem& problem) {
  Time least = kNever;
  const auto see = [&](const std::vector<std::size_t>& borders) {
    least = std::min(least, TimeOf(problem, borders));
  };
  EachDivision(problem.blocks.size(), static_cast<std::size_t>(problem.chunks()), see);
  return least;
}

TEST(Partition, TryingAllFindsTheBest) {
  Draw draw(1);
  for (int round = 0; round < 100; ++round) {
    const Problem problem = draw.AProblem(9, 4);
    const auto found = Divide(problem);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->time, LeastOf(problem));
    EXPECT_EQ(found->time, TimeOf(problem, found->borders));
  }
}

TEST(Partition, TheSearchFindsTheBestNearlyAlwaysAndNothingFarFromIt) {
  Draw draw(2);
  int best = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    Problem problem = draw.AProblem(14, 4);
    problem.most_to_try = 0;
    problem.most_operations = 200'000;
    const auto found = Divide(problem);
    ASSERT_TRUE(found);
    const Time least = LeastOf(problem);
    best += found->time == least;
    EXPECT_LE(static_cast<double>(found->time), 1.01 * static_cast<double>(least)) << "round " << round;
  }
  EXPECT_GE(best, kRounds * 99 / 100);
}

TEST(Partition, TheBalancedDivisionHasTheShortestLongestStage) {
  Draw draw(4);
  for (int round = 0; round < 200; ++round) {
    const Problem problem = draw.AProblem(10, 4);
    const auto longest = [&](const std::vector<std::size_t>& borders) {
      const Costs costs = CostsOf(problem, borders);
      Time most = 0;
      for (std::size_t c = 0; c < costs.forward.size(); ++c)
        most = std::max(most, costs.forward[c] + costs.backward[c]);
      return most;
    };
    Time least = kNever;
    EachDivision(problem.blocks.size(), problem.devices.size(),
                 [&](const std::vector<std::size_t>& borders) { least = std::min(least, longest(borders)); });
    EXPECT_EQ(longest(BalancedBorders(problem)), least) << "round " << round;
  }
}

TEST(Partition, MemoryIsALimit) {
  Problem problem;
  for (int b = 0; b < 4; ++b) {
    problem.blocks.push_back(
        {.name = "b", .forward = 10, .backward = 10, .stored_bytes = 100, .parameter_bytes = 10});
  }
  problem.devices.resize(2);
  problem.microbatches = 4;
  ASSERT_TRUE(Divide(problem));
  EXPECT_EQ(Divide(problem)->borders, (std::vector<std::size_t>{0, 2, 4}));
  // The first stage keeps two micro-batches, the second one: 2 x (2 x 100 + 4 x 10) and 3 x (100 + 4 x 10).
  for (Device& device : problem.devices) device.memory = 440;
  EXPECT_EQ(Divide(problem)->borders, (std::vector<std::size_t>{0, 1, 4}));
  EXPECT_FALSE(Fits(problem, {0, 2, 4}));
  EXPECT_EQ(TimeOf(problem, {0, 2, 4}), kNever);
  problem.most_to_try = 0;
  EXPECT_EQ(Divide(problem)->borders, (std::vector<std::size_t>{0, 1, 4})) << "the search heeds it, too";
  for (Device& device : problem.devices) device.memory = 400;
  EXPECT_FALSE(Divide(problem));
}

// Two devices have the chunks 0 and 2, and 1 and 3. When its second backward pass begins, the first one has
// four micro-batches of chunk 0, and one of chunk 2.
TEST(Partition, TheOrderSaysWhatInterleavedChunksKeep) {
  Problem problem;
  problem.blocks.resize(4);
  problem.blocks[0].stored_bytes = 100;
  problem.blocks[2].stored_bytes = 10;
  problem.devices.resize(2);
  problem.microbatches = 4;
  problem.kind = Kind::kInterleaved;
  problem.chunks_per_device = 2;
  const std::vector<std::size_t> borders = {0, 1, 2, 3, 4};
  problem.devices[0].memory = 409;
  EXPECT_EQ(LackingBytes(problem, borders), 1);
  problem.devices[0].memory = 410;
  EXPECT_TRUE(Fits(problem, borders));
  problem.microbatches = 2;  // as many as there are devices: all forward passes come first
  problem.devices[0].memory = 219;
  EXPECT_FALSE(Fits(problem, borders));
  problem.devices[0].memory = 220;
  EXPECT_TRUE(Fits(problem, borders));
}

TEST(Partition, GPipeKeepsAllMicroBatches) {
  Problem problem;
  problem.blocks.resize(2);
  problem.blocks[1].stored_bytes = 100;
  problem.devices.resize(2);
  problem.microbatches = 5;
  problem.kind = Kind::kGPipe;
  problem.devices[1].memory = 499;
  EXPECT_FALSE(Fits(problem, {0, 1, 2}));
  problem.devices[1].memory = 500;
  EXPECT_TRUE(Fits(problem, {0, 1, 2}));
}

TEST(Partition, ASlowDeviceGetsLess) {
  Problem problem;
  for (int b = 0; b < 9; ++b) problem.blocks.push_back({.name = "b", .forward = 10, .backward = 10});
  problem.devices.resize(2);
  problem.devices[0].speed = 0.5;
  problem.microbatches = 16;
  EXPECT_EQ(Divide(problem)->borders, (std::vector<std::size_t>{0, 3, 9}));
}

TEST(Partition, FaultsAreNamed) {
  Problem problem;
  EXPECT_EQ(FaultOf(problem), "expected at least one device");
  problem.devices.resize(3);
  problem.blocks.resize(2);
  EXPECT_EQ(FaultOf(problem), "blocks: expected at least one block for each of the 3 stages, got 2");
  problem.blocks.resize(3);
  EXPECT_EQ(FaultOf(problem), "");
  problem.devices[1].speed = 0;
  EXPECT_EQ(FaultOf(problem), "expected devices with a speed above 0");
  problem.devices[1].speed = 1;
  problem.blocks[0].forward = kNever / 10;
  EXPECT_EQ(FaultOf(problem), "expected an iteration of less than thirty years");
  problem.microbatches = 2'000'000;
  EXPECT_EQ(FaultOf(problem),
            "stages and micro-batches: expected at most 4000000 passes of a micro-batch through a stage, got "
            "6000000");
}

}  // namespace
}  // namespace crossover::pipeline
