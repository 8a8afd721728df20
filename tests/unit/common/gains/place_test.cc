#include "common/gains/place.h"

#include <gtest/gtest.h>

namespace crossover::gains {
namespace {

TEST(PlaceTest, TheWaitIsShorterByWhatTheUplinkSaves) {
  EXPECT_DOUBLE_EQ(GainOfPlace(0.02, 0.03, 0.03, 0.01), 0.05 / 0.03);
  EXPECT_DOUBLE_EQ(GainOfPlace(0.02, 0.04, 0.03, 0.01), 0.06 / 0.04) << "the wait has more than the uplink";
  EXPECT_DOUBLE_EQ(GainOfPlace(0.02, 0.01, 0.03, 0.01), 0.03 / 0.02) << "nothing of the wait is left";
  EXPECT_DOUBLE_EQ(GainOfPlace(0.02, 0.03, 0.03, 0.03), 1);
}

}  // namespace
}  // namespace crossover::gains
