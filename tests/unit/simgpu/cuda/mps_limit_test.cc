#include "simgpu/cuda/mps_limit.h"

#include <gtest/gtest.h>

namespace simgpu {
namespace {

TEST(MpsLimitTest, TheLowerOfTheClientsAndTheDaemonsHolds) {
  std::string complaint;
  EXPECT_EQ(ActiveThreadPercentage(nullptr, 100, &complaint), 100);
  EXPECT_EQ(ActiveThreadPercentage(nullptr, 30, &complaint), 30);
  EXPECT_EQ(ActiveThreadPercentage("50", 100, &complaint), 50);
  EXPECT_EQ(ActiveThreadPercentage("50", 30, &complaint), 30);
  EXPECT_EQ(ActiveThreadPercentage("12.5", 100, &complaint), 12.5);
  EXPECT_EQ(complaint, "");
}

TEST(MpsLimitTest, WhatIsNoPercentageChangesNothingAndIsSaid) {
  for (const char* bad : {"0", "-1", "101", "half", "", "50%", "nan"}) {
    std::string complaint;
    EXPECT_EQ(ActiveThreadPercentage(bad, 70, &complaint), 70) << bad;
    EXPECT_EQ(complaint, std::string("environment: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=") + bad +
                             ": expected a number above 0 and up to 100; the variable is ignored");
  }
}

TEST(MpsLimitTest, SmsAreRoundedDownButForOne) {
  EXPECT_EQ(SmsOfPercentage(50, 132), 66);
  EXPECT_EQ(SmsOfPercentage(50, 7), 3);
  EXPECT_EQ(SmsOfPercentage(1, 8), 1);
}

}  // namespace
}  // namespace simgpu
