#include "simgpu/math/cost.h"

#include <gtest/gtest.h>

namespace simgpu::math {
namespace {

constexpr int kSms = 132;
constexpr std::uint64_t kStart = 2000;

TEST(Cost, ALargeProductFillsTheGpuAndTakesItsArithmetic) {
  const Cost cost = CostOfProduct({8192, 8192, 8192, 1}, Precision::kHalf, kSms);
  EXPECT_EQ(cost.sms, kSms);
  EXPECT_NEAR(static_cast<double>(cost.ns), 2.0 * 8192 * 8192 * 8192 / 550e3, 3000);
}

TEST(Cost, TwiceTheWorkTakesTwiceTheTime) {
  const Cost once = CostOfProduct({4096, 4096, 1024, 1}, Precision::kHalf, kSms);
  for (const MatrixShape& shape : {MatrixShape{8192, 4096, 1024, 1}, MatrixShape{4096, 8192, 1024, 1},
                                   MatrixShape{4096, 4096, 2048, 1}, MatrixShape{4096, 4096, 1024, 2}}) {
    const Cost twice = CostOfProduct(shape, Precision::kHalf, kSms);
    EXPECT_NEAR(static_cast<double>(twice.ns - kStart), 2.0 * static_cast<double>(once.ns - kStart), 2);
  }
}

TEST(Cost, OneTileWithAShortSumFillsOneSm) {
  const Cost cost = CostOfProduct({128, 128, 256, 1}, Precision::kSingle, kSms);
  EXPECT_EQ(cost.sms, 1);
  EXPECT_GT(cost.ns, kStart);
}

TEST(Cost, ALongSumIsSplitWhereTilesAreFew) {
  EXPECT_EQ(CostOfProduct({128, 128, 256 * 40, 1}, Precision::kSingle, kSms).sms, 40);
  EXPECT_EQ(CostOfProduct({128, 128, 256 * 4000, 1}, Precision::kSingle, kSms).sms, kSms);
}

TEST(Cost, NarrowerNumbersAreFaster) {
  std::uint64_t last = UINT64_MAX;
  for (const Precision precision :
       {Precision::kSingle, Precision::kTensorFloat, Precision::kHalf, Precision::kByte}) {
    const Cost cost = CostOfProduct({4096, 4096, 4096, 1}, precision, kSms);
    EXPECT_LT(cost.ns, last);
    last = cost.ns;
  }
}

TEST(Cost, AnEmptyProductCostsTheStartAlone) {
  for (const MatrixShape& shape :
       {MatrixShape{0, 64, 64, 1}, MatrixShape{64, 64, 0, 1}, MatrixShape{64, 64, 64, 0}}) {
    const Cost cost = CostOfProduct(shape, Precision::kHalf, kSms);
    EXPECT_EQ(cost.ns, kStart);
    EXPECT_EQ(cost.sms, 1);
  }
}

TEST(Cost, SizesBeyondAllMemoryStayFinite) {
  constexpr std::uint64_t kHuge = UINT64_MAX;
  EXPECT_LE(CostOfProduct({kHuge, kHuge, kHuge, kHuge}, Precision::kDouble, 1).ns, std::uint64_t{1} << 60);
}

TEST(Cost, ASmallGpuIsNeverOverfilled) {
  EXPECT_EQ(CostOfProduct({8192, 8192, 64, 1}, Precision::kHalf, 4).sms, 4);
  EXPECT_EQ(CostOfTraffic(1U << 30, 4).sms, 4);
}

TEST(Cost, TrafficTakesTheTimeOfMemory) {
  const Cost cost = CostOfTraffic(2'500'000'000, kSms);
  EXPECT_EQ(cost.sms, kSms);
  EXPECT_NEAR(static_cast<double>(cost.ns), 1e6, 3000);
  EXPECT_EQ(CostOfTraffic(1, kSms).sms, 1);
}

}  // namespace
}  // namespace simgpu::math
