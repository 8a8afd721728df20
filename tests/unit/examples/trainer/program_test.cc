#include "examples/trainer/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "examples/trainer/experts.h"
#include "examples/trainer/shards.h"
#include "examples/trainer/tensors.h"

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
       {Variant::kPlain, Variant::kOneStream, Variant::kBroadcastBuffers, Variant::kLossAllreduce,
        Variant::kSyncBatchNorm, Variant::kSharded, Variant::kTensor, Variant::kExperts}) {
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

// Returns the order in which a sharded program gathers (g), waits (w) and uses (u) layers, with their
// numbers.
std::string GathersOf(const Program& program) {
  std::string order;
  for (const Step& step : program) {
    if (step.kind == StepKind::kGather) order += "g" + std::to_string(step.a);
    if (step.kind == StepKind::kJoinGather) order += "w" + std::to_string(step.a);
    if (step.kernel == Kernel::kUnshard) order += "u" + std::to_string(step.a);
  }
  return order;
}

TEST(ProgramTest, LayersAreGatheredAheadAsAsked) {
  const auto order = [](std::uint32_t prefetch) {
    return GathersOf(TrainingProgram({.variant = Variant::kSharded, .prefetch = prefetch}));
  };
  EXPECT_EQ(order(0),
            "g0w0u0g1w1u1g2w2u2g3w3u3g4w4u4"
            "g4w4u4g3w3u3g2w2u2g1w1u1g0w0u0");
  EXPECT_EQ(order(1),
            "g0g1w0u0g2w1u1g3w2u2g4w3u3w4u4"
            "g4g3w4u4g2w3u3g1w2u2g0w1u1w0u0");
  EXPECT_EQ(order(2).substr(0, 12), "g0g1g2w0u0g3");
}

TEST(ProgramTest, AShardedJobDiscardsEachLayerBehindItsUse) {
  const Program program = TrainingProgram({.variant = Variant::kSharded, .prefetch = 1});
  std::vector<bool> there(kLayers);
  for (const Step& step : program) {
    if (step.kernel == Kernel::kUnshard) there[step.a] = true;
    if (step.kernel == Kernel::kDiscard) there[step.a] = false;
    const bool uses = step.kernel == Kernel::kLinear || step.kernel == Kernel::kInputGradient;
    EXPECT_TRUE(!uses || there[step.a]) << "layer " << step.a;
  }
  EXPECT_EQ(std::ranges::count(there, true), 0);
  EXPECT_EQ(Count(program, StepKind::kScatter), std::size_t{kLayers});
  EXPECT_EQ(Count(program, StepKind::kReduceBucket), 0u);
  EXPECT_EQ(Count(program, StepKind::kGather), std::size_t{kUnitsOnTheWire - kLayers});
}

TEST(ProgramTest, ATensorParallelJobSumsEachLayerAndNoGradients) {
  const Program program = TrainingProgram({.variant = Variant::kTensor, .accumulation = 3});
  const std::size_t sums = Count(program, StepKind::kSumActivation) + Count(program, StepKind::kSumDelta);
  EXPECT_EQ(sums, std::size_t{3 * kSumsOfAMicroBatch});
  EXPECT_EQ(Count(program, StepKind::kReduceBucket) + Count(program, StepKind::kJoinBuckets), 0u);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i].kind != StepKind::kSumActivation) continue;
    EXPECT_EQ(program[i - 1].kernel, Kernel::kLinearPart);
  }
  const Program assembly = AssemblyProgram(Variant::kTensor);
  EXPECT_EQ(assembly.back().kind, StepKind::kSumParameters);
}

TEST(ProgramTest, AJobWithExpertsExchangesFourTimesInAMicroBatch) {
  const ProgramOptions options{.variant = Variant::kExperts, .accumulation = 2};
  const Program program = TrainingProgram(options);
  EXPECT_EQ(Count(program, StepKind::kExchange), std::size_t{2 * kExchangesOfAMicroBatch});
  EXPECT_EQ(Count(program, StepKind::kShareCounts), 0u);
  EXPECT_EQ(Count(program, StepKind::kReduceBucket), std::size_t{kBuckets})
      << "other layers are data-parallel";
  std::uint32_t next = 0;
  for (const Step& step : program) {
    EXPECT_TRUE(step.kind != StepKind::kLaunch || step.kernel != Kernel::kLinear || step.a != kExpertLayer);
    if (step.kind != StepKind::kExchange) continue;
    EXPECT_EQ(step.a, next++ % kExchangesOfAMicroBatch);
  }
  ProgramOptions varying = options;
  varying.routing = Routing::kVarying;
  EXPECT_EQ(Count(TrainingProgram(varying), StepKind::kShareCounts), 2u);
}

TEST(RowFloats, AddUpToTheBytesThatAreAskedFor) {
  EXPECT_NEAR(RowFloats(1'000'000, 8, 2) * 8 * 2 * kExchangesOfAMicroBatch * sizeof(float), 1'000'000, 256);
  EXPECT_EQ(RowFloats(0, 8, 1), Width(kExpertLayer));
  for (std::uint32_t rows : {1u, 3u, 8u, 9u}) {
    std::uint32_t sum = 0;
    for (std::uint32_t expert = 0; expert < 4; ++expert) sum += FixedCount(rows, 4, expert);
    EXPECT_EQ(sum, rows);
  }
}

TEST(SummedFloats, AddUpToTheBytesThatAreAskedFor) {
  EXPECT_NEAR(SummedFloats(900'000, 32, 1) * sizeof(float) * kSumsOfAMicroBatch, 900'000, 40);
  EXPECT_EQ(SummedFloats(0, 32, 2), 32 * Width(1)) << "the widest layer has to fit";
}

TEST(UnitSize, PutsAsManyBytesOnTheWireAsAnAllReduce) {
  constexpr std::uint32_t kWorld = 4;
  const std::uint32_t unit = UnitSize(3'000'000, kWorld);
  EXPECT_EQ(unit % kWorld, 0u);
  EXPECT_NEAR(unit * sizeof(float) * kUnitsOnTheWire / 2.0, 3'000'000, 1000);
  EXPECT_EQ(UnitSize(0, 3) % 3, 0u);
  EXPECT_GE(UnitSize(0, 3), LayerOffset(1)) << "the largest layer has to fit";
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
