#include "pipeline/simulate.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <utility>

#include "pipeline/partition.h"
#include "tests/unit/pipeline/draw.h"

namespace crossover::pipeline {
namespace {

constexpr Time kForward = 100, kBackward = 200;

// Returns a problem with one block for each stage, all alike, and free links.
Problem Equal(int devices, int microbatches) {
  Problem problem;
  for (int d = 0; d < devices; ++d) {
    problem.blocks.push_back({.name = "b", .forward = kForward, .backward = kBackward});
    problem.devices.push_back({});
  }
  problem.microbatches = microbatches;
  return problem;
}

TEST(Simulate, EqualStagesHaveTheirClosedForm) {
  for (const auto& [devices, microbatches] : {std::pair(1, 1), {1, 5}, {2, 1}, {3, 2}, {4, 8}, {8, 32}}) {
    Problem problem = Equal(devices, microbatches);
    const Time all = (microbatches + devices - 1) * (kForward + kBackward);
    EXPECT_EQ(TimeOf(problem, EvenBorders(problem)), all) << devices << " " << microbatches;
    problem.kind = Kind::kGPipe;
    EXPECT_EQ(TimeOf(problem, EvenBorders(problem)), all) << "GPipe";
  }
}

// With v chunks on each device the devices wait at the beginning and the end for one chunk, not for v.
TEST(Simulate, InterleavedChunksWaitLess) {
  for (const int chunks : {2, 3}) {
    Problem problem = Equal(4, 8);
    problem.kind = Kind::kInterleaved;
    problem.chunks_per_device = chunks;
    problem.blocks.resize(static_cast<std::size_t>(4 * chunks), problem.blocks[0]);
    EXPECT_EQ(TimeOf(problem, EvenBorders(problem)), (8 * chunks + 3) * (kForward + kBackward)) << chunks;
  }
}

// With b = 2f the best is (M + P - 1) 3f - (P - 1) f / 2: half of the start-up is saved.
TEST(Simulate, SlicesSaveHalfOfTheStart) {
  for (const auto& [devices, sliced] : {std::pair(4, 1), {8, 2}, {16, 4}}) {
    const Problem problem = Equal(devices, 2 * devices);
    const Division whole = {.borders = EvenBorders(problem), .time = TimeOf(problem, EvenBorders(problem))};
    const Division found = Slice(problem, whole);
    EXPECT_EQ(found.time, (3 * devices - 1) * 3 * kForward - (devices - 1) * kForward / 2) << devices;
    EXPECT_EQ(found.sliced, sliced) << devices;
  }
}

TEST(Simulate, HalvesThatTakeTooLongAreNotUsed) {
  Problem problem = Equal(4, 8);
  problem.slice_cost = 1;
  const Division whole = {.borders = EvenBorders(problem), .time = TimeOf(problem, EvenBorders(problem))};
  EXPECT_EQ(Slice(problem, whole).sliced, 0);
}

TEST(Simulate, TransfersComeBetween) {
  Problem problem = Equal(2, 1);
  problem.blocks[0].output_bytes = 30;
  problem.devices[0] = {.latency = 7, .bytes_per_second = 1e9};
  EXPECT_EQ(TimeOf(problem, EvenBorders(problem)), 2 * (kForward + kBackward) + 2 * 37);
}

TEST(Simulate, NoOrderOfASoundShapeWaitsForEver) {
  Draw draw(3);
  for (int round = 0; round < 300; ++round) {
    Shape shape{.kind = static_cast<Kind>(draw.From(0, 2)), .devices = draw.From(1, 6)};
    shape.microbatches = shape.devices * draw.From(1, 4);
    if (shape.kind == Kind::kInterleaved) {
      shape.chunks_per_device = draw.From(1, 4);
    } else {
      shape.sliced = draw.From(0, shape.microbatches);
    }
    Costs costs;
    for (int c = 0; c < shape.chunks(); ++c) {
      costs.forward.push_back(draw.From(1, 50));
      costs.backward.push_back(draw.From(1, 50));
      costs.ahead.push_back({draw.From(0, 5), draw.From(0, 20)});
      costs.back.push_back({draw.From(0, 5), draw.From(0, 20)});
    }
    std::vector<Span> spans;
    const Time time = Simulate(shape, OrdersOf(shape), costs, &spans);
    ASSERT_NE(time, kNever);
    // No two operations of a device run at once.
    std::vector<Time> clock(static_cast<std::size_t>(shape.devices), 0);
    std::map<std::tuple<bool, int, int, Half>, Time> ends;
    for (const Span& span : spans) {
      EXPECT_GE(span.begin, clock[static_cast<std::size_t>(span.device)]);
      clock[static_cast<std::size_t>(span.device)] = span.end;
      const Operation& one = span.operation;
      ends[{one.forward, one.chunk, one.microbatch, one.half}] = span.end;
    }
    // None begins before what it needs.
    for (const Span& span : spans) {
      const Operation& one = span.operation;
      const auto chunk = static_cast<std::size_t>(one.chunk);
      if (one.forward && one.chunk > 0) {
        const Transfer& transfer = costs.ahead[chunk - 1];
        const Time takes = transfer.fixed + (one.half == Half::kWhole ? transfer.whole : transfer.whole / 2);
        EXPECT_GE(span.begin, ends.at({true, one.chunk - 1, one.microbatch, one.half}) + takes);
      } else if (!one.forward && one.chunk + 1 < shape.chunks()) {
        const Time takes = costs.back[chunk].fixed + costs.back[chunk].whole;
        EXPECT_GE(span.begin, ends.at({false, one.chunk + 1, one.microbatch, Half::kWhole}) + takes);
      } else if (!one.forward) {
        const Half half = one.microbatch < shape.sliced ? Half::kSecond : Half::kWhole;
        EXPECT_GE(span.begin, ends.at({true, one.chunk, one.microbatch, half}));
      }
    }
  }
}

TEST(Simulate, OrdersThatWaitForEachOtherNeverEnd) {
  const Shape shape{.devices = 2, .microbatches = 2};
  auto orders = OrdersOf(shape);
  std::swap(orders[1][0], orders[1][1]);  // a backward pass before its forward pass
  const Costs costs{.forward = {1, 1}, .backward = {1, 1}, .ahead = {{}}, .back = {{}}};
  EXPECT_EQ(Simulate(shape, orders, costs), kNever);
}

}  // namespace
}  // namespace crossover::pipeline
