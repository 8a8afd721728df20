#include "deviceplugin/inventory/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;

constexpr Health::Time kSecond = 1'000'000'000;

class HealthTest : public ::testing::Test {
 protected:
  void Look(Health::Time now, std::optional<bool> wants_reset = std::nullopt) {
    health_.OnLook({{"GPU-a", wants_reset}, {"GPU-b", std::nullopt}}, now);
  }
  Health health_{300 * kSecond};
};

TEST_F(HealthTest, ErrorsOfProgramsAreCountedAndNothingMore) {
  Look(0);
  for (const unsigned xid : {13u, 31u, 43u, 45u, 68u, 109u, 154u}) {
    health_.OnXid("GPU-a", xid, kSecond);
    EXPECT_FALSE(BlamesTheGpu(xid));
  }
  EXPECT_EQ(health_.Fault("GPU-a"), std::nullopt);
  EXPECT_EQ(health_.xids().at({"GPU-a", 31}), 1u);
}

TEST_F(HealthTest, AnErrorOfAGpuWithholdsItUntilItHasBeenQuiet) {
  Look(0);
  health_.OnXid("GPU-a", 94, 10 * kSecond);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "Xid 94");
  EXPECT_EQ(health_.Fault("GPU-b"), std::nullopt);
  Look(309 * kSecond);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "Xid 94");
  health_.OnXid("GPU-a", 92, 309 * kSecond);
  Look(311 * kSecond);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "Xid 92") << "quiet since the last";
  Look(609 * kSecond);
  EXPECT_EQ(health_.Fault("GPU-a"), std::nullopt);
}

TEST_F(HealthTest, WhatNeedsAResetDoesNotPassByItself) {
  Look(0);
  health_.OnXid("GPU-a", 79, kSecond);
  Look(10'000 * kSecond);
  EXPECT_THAT(base::TextOf(health_.Fault("GPU-a")), HasSubstr("Xid 79: reset the GPU"));
  EXPECT_EQ(health_.Fault("GPU-a")->reason, base::Withheld::kXid);
}

TEST_F(HealthTest, ADriverThatSaysWhetherItWantsAResetIsBelieved) {
  Look(0, false);
  health_.OnXid("GPU-a", 79, kSecond);
  Look(2 * kSecond, true);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "the driver wants it reset");
  Look(1000 * kSecond, true);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "the driver wants it reset") << "however long that is ago";
  Look(1001 * kSecond, false);
  EXPECT_EQ(health_.Fault("GPU-a"), std::nullopt);
}

TEST_F(HealthTest, AGpuThatDoesNotAnswerIsWithheldUntilItDoes) {
  Look(0);
  health_.OnLook({{"GPU-b", std::nullopt}}, kSecond);
  EXPECT_EQ(base::TextOf(health_.Fault("GPU-a")), "it does not answer");
  Look(2 * kSecond);
  EXPECT_EQ(health_.Fault("GPU-a"), std::nullopt);
  EXPECT_EQ(health_.Fault("GPU-never-seen"), std::nullopt);
}

}  // namespace
}  // namespace crossover::deviceplugin
