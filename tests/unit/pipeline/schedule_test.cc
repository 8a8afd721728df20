#include "pipeline/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

namespace crossover::pipeline {
namespace {

// Returns the operations of a device as text: F0 B0, with a or b behind halves, and the chunk if there are
// several.
std::string Text(const Shape& shape, int device) {
  std::string text;
  const auto orders = OrdersOf(shape);
  for (const Operation& operation : orders[static_cast<std::size_t>(device)]) {
    text += operation.forward ? "F" : "B";
    text += std::to_string(operation.microbatch);
    if (operation.half == Half::kFirst) text += "a";
    if (operation.half == Half::kSecond) text += "b";
    if (shape.chunks_per_device > 1) text += "/" + std::to_string(operation.chunk);
    text += " ";
  }
  return text;
}

TEST(Schedule, OneForwardOneBackward) {
  const Shape shape{.devices = 3, .microbatches = 4};
  EXPECT_EQ(Text(shape, 0), "F0 F1 F2 B0 F3 B1 B2 B3 ");
  EXPECT_EQ(Text(shape, 1), "F0 F1 B0 F2 B1 F3 B2 B3 ");
  EXPECT_EQ(Text(shape, 2), "F0 B0 F1 B1 F2 B2 F3 B3 ");
  EXPECT_EQ(Text({.devices = 3, .microbatches = 1}, 0), "F0 B0 ") << "fewer micro-batches than stages";
}

TEST(Schedule, GPipe) {
  EXPECT_EQ(Text({.kind = Kind::kGPipe, .devices = 2, .microbatches = 3}, 1), "F0 F1 F2 B0 B1 B2 ");
}

TEST(Schedule, Interleaved) {
  const Shape shape{.kind = Kind::kInterleaved, .devices = 2, .chunks_per_device = 2, .microbatches = 4};
  EXPECT_EQ(Text(shape, 0),
            "F0/0 F1/0 F0/2 F1/2 F2/0 B0/2 F3/0 B1/2 F2/2 B0/0 F3/2 B1/0 B2/2 B3/2 B2/0 B3/0 ");
  EXPECT_EQ(Text(shape, 1),
            "F0/1 F1/1 F0/3 B0/3 F1/3 B1/3 F2/1 B0/1 F3/1 B1/1 F2/3 B2/3 F3/3 B3/3 B2/1 B3/1 ");
}

TEST(Schedule, SlicedMicroBatchesHaveTwoHalves) {
  EXPECT_EQ(Text({.devices = 2, .microbatches = 3, .sliced = 1}, 0), "F0a F0b F1 B0 F2 B1 B2 ");
}

TEST(Schedule, EachOperationIsThereOnceInEachShape) {
  for (const Kind kind : {Kind::kOneForwardOneBackward, Kind::kInterleaved, Kind::kGPipe}) {
    for (int devices = 1; devices <= 5; ++devices) {
      for (int rounds = 1; rounds <= 3; ++rounds) {
        Shape shape{.kind = kind, .devices = devices, .microbatches = rounds * devices};
        if (kind == Kind::kInterleaved) shape.chunks_per_device = 3;
        std::map<std::tuple<bool, int, int>, int> seen;
        for (const auto& order : OrdersOf(shape)) {
          for (const Operation& one : order) ++seen[{one.forward, one.chunk, one.microbatch}];
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(2 * shape.chunks() * shape.microbatches));
        for (const auto& [operation, times] : seen) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(Schedule, UnsoundShapesAreNamed) {
  const auto fault = [](const Shape& shape) { return FaultOf(shape); };
  EXPECT_EQ(fault({.devices = 2, .microbatches = 3}), "");
  EXPECT_NE(fault({.devices = 0, .microbatches = 3}).find("device"), std::string::npos);
  EXPECT_NE(fault({.devices = 2, .microbatches = 0}).find("micro-batch"), std::string::npos);
  EXPECT_NE(fault({.devices = 2, .microbatches = 2, .sliced = 3}).find("halved"), std::string::npos);
  EXPECT_NE(fault({.devices = 2, .chunks_per_device = 2, .microbatches = 2}).find("one chunk"),
            std::string::npos);
  EXPECT_NE(fault({.kind = Kind::kInterleaved, .devices = 2, .chunks_per_device = 2, .microbatches = 3})
                .find("a multiple of the devices"),
            std::string::npos);
}

}  // namespace
}  // namespace crossover::pipeline
