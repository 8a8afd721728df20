#include "examples/trainer/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace crossover::trainer {
namespace {

std::size_t Count(const Program& program, StepKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program, [&](const Step& step) { return step.kind == kind; }));
}

std::size_t Place(const Program& program, StepKind kind) {
  return static_cast<std::size_t>(
      std::ranges::find_if(program, [&](const Step& step) { return step.kind == kind; }) - program.begin());
}

double Shares(const Program& program) {
  return std::accumulate(program.begin(), program.end(), 0.0,
                         [](double sum, const Step& step) { return sum + step.share; });
}

TEST(ProgramTest, AnIterationHasSixtyKernelsAndFiveBuckets) {
  const Program program = TrainingProgram({});
  EXPECT_GE(Count(program, StepKind::kLaunch), 60u);
  EXPECT_EQ(Count(program, StepKind::kReduceBucket), 5u);
  EXPECT_EQ(Count(program, StepKind::kJoinBuckets), 1u);
}

TEST(ProgramTest, EarlyBucketsOverlapBackwardAndTheLastOneEndsIt) {
  const Program program = TrainingProgram({});
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i].kind == StepKind::kReduceBucket) {
      EXPECT_EQ(program[i].a, places.size());
      EXPECT_EQ(program[i - 1].kernel, Kernel::kPack);
      places.push_back(i);
    }
  }
  EXPECT_EQ(places.back() + 1, Place(program, StepKind::kJoinBuckets));
  double before_first = 0;
  for (std::size_t i = 0; i < places.front(); ++i) before_first += program[i].share;
  EXPECT_LT(before_first, 0.5);
}

TEST(ProgramTest, SharesAddUpToOneInEveryVariant) {
  for (Variant variant :
       {Variant::kPlain, Variant::kOneStream, Variant::kBroadcastBuffers, Variant::kLossAllreduce}) {
    for (LossPoint point : {LossPoint::kForward, LossPoint::kStep}) {
      for (std::uint32_t accumulation : {1u, 3u}) {
        EXPECT_NEAR(Shares(TrainingProgram({variant, point, accumulation})), 1.0, 1e-9);
      }
    }
  }
}

TEST(ProgramTest, DurationsAddUpToTheComputeTime) {
  const Program program = TrainingProgram({});
  for (double compute_ns : {20e6, 5e6, 1234567.8, 0.0}) {
    const auto durations = Durations(program, compute_ns);
    const auto sum = std::accumulate(durations.begin(), durations.end(), std::uint64_t{0});
    EXPECT_LE(std::abs(static_cast<double>(sum) - compute_ns), 1.0);
    for (std::size_t i = 0; i < program.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(durations[i]), program[i].share * compute_ns, 1.0);
    }
  }
}

TEST(ProgramTest, BuffersAreBroadcastBeforeForward) {
  const Program program = TrainingProgram({.variant = Variant::kBroadcastBuffers});
  EXPECT_EQ(Place(program, StepKind::kSyncBuffers), 0u);
  EXPECT_EQ(Count(program, StepKind::kSyncBuffers), 1u);
}

TEST(ProgramTest, TheLossIsReducedWhereAsked) {
  const Program forward = TrainingProgram({.variant = Variant::kLossAllreduce});
  EXPECT_EQ(forward[Place(forward, StepKind::kReduceLoss) - 1].kernel, Kernel::kSumLoss);
  const Program step = TrainingProgram({.variant = Variant::kLossAllreduce, .loss_point = LossPoint::kStep});
  EXPECT_EQ(step[Place(step, StepKind::kReduceLoss) - 1].kernel, Kernel::kUpdate);
  EXPECT_EQ(step[Place(step, StepKind::kReduceLoss) + 1].kernel, Kernel::kRecordLoss);
}

TEST(ProgramTest, MicroBatchesShareOneSetOfCollectives) {
  const Program program = TrainingProgram({.accumulation = 3});
  EXPECT_EQ(Count(program, StepKind::kReduceBucket), 5u);
  const auto loads =
      std::ranges::count_if(program, [](const Step& s) { return s.kernel == Kernel::kLoadBatch; });
  EXPECT_EQ(loads, 3);
  // The first micro-batch starts a new sum, the others add.
  std::vector<std::uint32_t> bits;
  for (const Step& step : program) {
    if (step.kernel == Kernel::kBiasGradient && step.a == 0) bits.push_back(step.b);
  }
  EXPECT_EQ(bits, (std::vector<std::uint32_t>{0, 2, 2}));
}

TEST(ProgramTest, KindsOfKernelsFillSmsInTurn) {
  const auto marker = static_cast<std::size_t>(Kernel::kMarker);
  for (std::size_t kernel = 0; kernel < kKernelCount; ++kernel) {
    EXPECT_EQ(SmsOf(kernel, {}), kernel == marker ? 1u : 132u);
    EXPECT_EQ(SmsOf(kernel, {105}), kernel == marker ? 1u : 105u);
  }
  const auto linear = static_cast<std::size_t>(Kernel::kLinear),
             relu = static_cast<std::size_t>(Kernel::kRelu);
  EXPECT_NE(SmsOf(linear, {132, 33}), SmsOf(relu, {132, 33}));
}

TEST(ProgramTest, AnEvaluationIsForwardOnlyWithOneCollective) {
  const Program program = EvaluationProgram(3, 7);
  EXPECT_EQ(Count(program, StepKind::kReduceMetric), 1u);
  EXPECT_EQ(Count(program, StepKind::kReduceBucket), 0u);
  for (const Step& step : program) EXPECT_NE(step.kernel, Kernel::kWeightGradient);
  EXPECT_EQ(program.back().kernel, Kernel::kRecordMetric);
  EXPECT_EQ(program.back().a, 7u);
}

}  // namespace
}  // namespace crossover::trainer
