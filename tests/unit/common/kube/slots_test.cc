#include "common/kube/slots.h"

#include <gtest/gtest.h>

#include "tests/unit/common/kube/golden_slots.h"

namespace crossover::kube {
namespace {

TEST(SlotsTest, OfEachGoldenContainer) {
  for (const GoldenSlots& golden : kGoldenSlots)
    EXPECT_EQ(SlotsOf(PodWith(golden)["spec"]["containers"][0]), golden.slots) << golden.resources;
}

}  // namespace
}  // namespace crossover::kube
