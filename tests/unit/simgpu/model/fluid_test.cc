#include "simgpu/model/fluid.h"

#include <gtest/gtest.h>

#include "tests/unit/simgpu/fluids.h"

namespace simgpu {
namespace {

TEST(FluidTest, OneKernelAloneTakesItsTime) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int t = fluid->Add(1);
  const double end = Kernel(*fluid, t, 5 * kMs);
  EXPECT_EQ(fluid->FinishTime(t, end), 5 * kMs);
  fluid->Advance(7 * kMs);
  EXPECT_EQ(fluid->CrossedAt(t, end), 5 * kMs);
  EXPECT_FALSE(fluid->Active(t));
  EXPECT_EQ(fluid->busy(), 5 * kMs);
}

TEST(FluidTest, WorkGivenInTimeFollowsWithoutAGap) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int t = fluid->Add(1);
  double end = 0;
  for (int i = 0; i < 60; ++i) end = Kernel(*fluid, t, 333'333);
  fluid->Advance(10 * kMs);
  end = Kernel(*fluid, t, 333'333);
  fluid->Advance(100 * kMs);
  EXPECT_EQ(fluid->CrossedAt(t, end), 61 * 333'333);
}

TEST(FluidTest, WorkGivenToAnIdleTenantStartsNow) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int t = fluid->Add(1);
  Kernel(*fluid, t, kMs);
  fluid->Advance(3 * kMs);
  const double end = Kernel(*fluid, t, kMs);
  EXPECT_EQ(fluid->FinishTime(t, end), 4 * kMs);
}

TEST(FluidTest, EqualKernelsShareEvenly) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double a_end = Kernel(*fluid, a, 10 * kMs);
  const double b_end = Kernel(*fluid, b, 4 * kMs);
  EXPECT_EQ(fluid->FinishTime(b, b_end), 8 * kMs);
  EXPECT_EQ(fluid->FinishTime(a, a_end), 14 * kMs);
  fluid->Advance(20 * kMs);
  EXPECT_EQ(fluid->CrossedAt(b, b_end), 8 * kMs);
  EXPECT_EQ(fluid->CrossedAt(a, a_end), 14 * kMs);
}

TEST(FluidTest, WaterFillingGivesSmallDemandsAllTheyWant) {
  auto fluid = MakeFluid(ShareMode::kShared, 100);
  const int small = fluid->Add(1), middle = fluid->Add(2), large = fluid->Add(3);
  const double small_end = Kernel(*fluid, small, 10 * kMs, 10);
  const double middle_end = Kernel(*fluid, middle, 10 * kMs, 60);
  const double large_end = Kernel(*fluid, large, 10 * kMs, 90);
  // The shares are 10 + 45 + 45: the middle one runs at 3/4 of its speed, and the large one at 1/2.
  fluid->Advance(8 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(small), 8 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(middle), 6 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(large), 4 * kMs);
  // At 10 ms the small one ends, and the shares are 50 + 50. The middle one has done 7.5 ms and does the
  // rest at 5/6, which ends at 13 ms. Then the large one is alone.
  fluid->Advance(100 * kMs);
  EXPECT_EQ(fluid->CrossedAt(small, small_end), 10 * kMs);
  EXPECT_NEAR(static_cast<double>(fluid->CrossedAt(middle, middle_end)), 13.0 * kMs, 2);
  // The large one has done 5 ms at 10 ms, does 3 * 50/90 more until 13 ms, and does the rest alone.
  EXPECT_NEAR(static_cast<double>(fluid->CrossedAt(large, large_end)),
              13.0 * kMs + (5.0 - 3 * 50.0 / 90) * kMs, 2);
}

TEST(FluidTest, ThreeEqualTenantsTakeThreeTimesAsLong) {
  for (const ShareMode mode : {ShareMode::kShared, ShareMode::kTimeslice}) {
    auto fluid = MakeFluid(mode, 132);
    int tenants[3];
    double ends[3];
    for (int i = 0; i < 3; ++i) {
      tenants[i] = fluid->Add(static_cast<std::uint32_t>(i + 1));
      ends[i] = Kernel(*fluid, tenants[i], 10 * kMs);
    }
    fluid->Advance(50 * kMs);
    EXPECT_EQ(fluid->CrossedAt(tenants[2], ends[2]), 30 * kMs);
    EXPECT_EQ(fluid->busy(), 30 * kMs);
  }
}

TEST(FluidTest, KernelsRunBesideASpinningCollective) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int collective = fluid->Add(1), kernels = fluid->Add(2);
  fluid->SetSpinning(collective, 4);
  const double end = Kernel(*fluid, kernels, 128 * kMs);
  EXPECT_EQ(fluid->FinishTime(kernels, end), 132 * kMs);
  fluid->Advance(66 * kMs);
  fluid->SetSpinning(collective, 0);
  fluid->Advance(200 * kMs);
  EXPECT_EQ(fluid->CrossedAt(kernels, end), 66 * kMs + 64 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(collective), 66 * kMs);
}

TEST(FluidTest, ASpinningCollectiveIsBusyAndDoesNoWork) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int collective = fluid->Add(1), kernels = fluid->Add(2);
  fluid->SetSpinning(collective, 4);
  fluid->Advance(10 * kMs);
  EXPECT_EQ(fluid->busy(), 10 * kMs);
  EXPECT_EQ(fluid->worked(), 0);
  Kernel(*fluid, kernels, 128 * kMs);
  fluid->Advance(200 * kMs);
  EXPECT_EQ(fluid->busy(), 200 * kMs);
  EXPECT_EQ(fluid->worked(), 132 * kMs);
}

TEST(FluidTest, SpinningOnEverySmStarvesKernels) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int collective = fluid->Add(1), kernels = fluid->Add(2);
  fluid->SetSpinning(collective, 132);
  const double end = Kernel(*fluid, kernels, kMs);
  EXPECT_EQ(fluid->FinishTime(kernels, end), kNever);
  fluid->Advance(10 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(kernels), 0);
}

TEST(FluidTest, KernelsOfTwoProcessesGainByRunningAtOnce) {
  for (const double factor : {0.9, 1.0, 1.25, 1.4}) {
    auto fluid = MakeFluid({.capacity = 132, .co_run = factor});
    const int a = fluid->Add(1), b = fluid->Add(2);
    const double end = Kernel(*fluid, a, 10 * kMs);
    EXPECT_EQ(fluid->FinishTime(a, end), 10 * kMs) << "a kernel alone gains nothing";
    const double other = Kernel(*fluid, b, 10 * kMs);
    const double expected = 20.0 * kMs / factor;
    EXPECT_NEAR(static_cast<double>(fluid->FinishTime(a, end)), expected, 1) << factor;
    EXPECT_NEAR(static_cast<double>(fluid->FinishTime(b, other)), expected, 1) << factor;
  }
}

TEST(FluidTest, NoKernelIsFasterBesideAnotherThanAlone) {
  auto fluid = MakeFluid({.capacity = 132, .co_run = 1.4});
  const int small = fluid->Add(1), large = fluid->Add(2);
  const double small_end = Kernel(*fluid, small, 10 * kMs, 12);
  const double large_end = Kernel(*fluid, large, 10 * kMs);
  EXPECT_EQ(fluid->FinishTime(small, small_end), 10 * kMs);
  EXPECT_EQ(fluid->FinishTime(large, large_end), 10 * kMs);  // 120 of 132 SMs, times 1.4, is more than all
}

TEST(FluidTest, OneProcessGainsNothingByTwoStreamsAndSlicesNothingAtAll) {
  for (const ShareMode mode : {ShareMode::kShared, ShareMode::kTimeslice}) {
    auto fluid = MakeFluid({.mode = mode, .capacity = 132, .quantum = 2 * kMs, .co_run = 1.25});
    const int a = fluid->Add(1), b = fluid->Add(mode == ShareMode::kShared ? 1 : 2);
    Kernel(*fluid, a, 10 * kMs);
    const double end = Kernel(*fluid, b, 10 * kMs);
    EXPECT_EQ(fluid->FinishTime(b, end), 20 * kMs);
  }
}

TEST(FluidTest, SlicesAlternate) {
  auto fluid = MakeFluid(ShareMode::kTimeslice, 132, 2 * kMs);
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double a_end = Kernel(*fluid, a, 5 * kMs), b_end = Kernel(*fluid, b, 5 * kMs);
  // The slices are, in ms: a 0-2, b 2-4, a 4-6, b 6-8, a 8-9, b 9-10.
  EXPECT_EQ(fluid->FinishTime(a, a_end), 9 * kMs);
  EXPECT_EQ(fluid->FinishTime(b, b_end), 10 * kMs);
  fluid->Advance(3 * kMs);
  EXPECT_FALSE(fluid->Active(a));
  EXPECT_TRUE(fluid->Active(b));
  EXPECT_EQ(fluid->ActiveTime(a), 4 * kMs);
  fluid->Advance(20 * kMs);
  EXPECT_EQ(fluid->CrossedAt(a, 3 * kMs), 5 * kMs);
  EXPECT_EQ(fluid->CrossedAt(a, a_end), 9 * kMs);
  EXPECT_EQ(fluid->CrossedAt(b, b_end), 10 * kMs);
}

TEST(FluidTest, ANewcomerWaitsForTheEndOfTheSlice) {
  auto fluid = MakeFluid(ShareMode::kTimeslice, 132, 2 * kMs);
  const int a = fluid->Add(1), b = fluid->Add(2);
  Kernel(*fluid, a, 20 * kMs);
  fluid->Advance(11 * kMs);
  const double b_end = Kernel(*fluid, b, kMs);
  // a is alone and its slices follow each other: the sixth ends at 12 ms.
  EXPECT_EQ(fluid->FinishTime(b, b_end), 13 * kMs);
}

TEST(FluidTest, ASpinningTenantBurnsItsGroupsSlices) {
  auto fluid = MakeFluid(ShareMode::kTimeslice, 132, 2 * kMs);
  const int collective = fluid->Add(1), kernels = fluid->Add(2);
  fluid->SetSpinning(collective, 4);
  const double end = Kernel(*fluid, kernels, 6 * kMs);
  EXPECT_EQ(fluid->FinishTime(kernels, end), 12 * kMs);
  fluid->Advance(12 * kMs);
  EXPECT_DOUBLE_EQ(fluid->Served(collective), 6 * kMs);
}

TEST(FluidTest, TenantsOfOneGroupRunTogether) {
  auto fluid = MakeFluid(ShareMode::kTimeslice, 132, 2 * kMs);
  const int compute = fluid->Add(1), collective = fluid->Add(1);
  fluid->SetSpinning(collective, 4);
  const double end = Kernel(*fluid, compute, 128 * kMs);
  EXPECT_EQ(fluid->FinishTime(compute, end), 132 * kMs);
}

TEST(FluidTest, PiecesOfDifferentDemandFollowEachOther) {
  auto fluid = MakeFluid(ShareMode::kShared, 100);
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double wide = Kernel(*fluid, a, 4 * kMs, 100);
  const double narrow = Kernel(*fluid, a, 4 * kMs, 20);
  Kernel(*fluid, b, 100 * kMs, 100);
  fluid->Advance(50 * kMs);
  EXPECT_EQ(fluid->CrossedAt(a, wide), 8 * kMs);
  EXPECT_EQ(fluid->CrossedAt(a, narrow), 12 * kMs);
}

TEST(FluidTest, SaysWhenItHoldsNoMorePieces) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int t = fluid->Add(1);
  for (int i = 0; i < Fluid::kPieces; ++i) {
    ASSERT_FALSE(fluid->Full(t));
    Kernel(*fluid, t, kMs, 1 + i % 2);
  }
  EXPECT_TRUE(fluid->Full(t));
  EXPECT_DOUBLE_EQ(fluid->NextMark(t), kMs);
  fluid->Advance(kMs);
  EXPECT_FALSE(fluid->Full(t));
}

TEST(FluidTest, RemovingATenantSpeedsUpTheRest) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double end = Kernel(*fluid, a, 10 * kMs);
  Kernel(*fluid, b, 10 * kMs);
  fluid->Advance(10 * kMs);
  fluid->Remove(b);
  EXPECT_EQ(fluid->FinishTime(a, end), 15 * kMs);
  EXPECT_EQ(fluid->Tenants(), 1);
  EXPECT_EQ(fluid->Add(3), b) << "a freed entry is used again";
}

TEST(FluidTest, RefusesMoreTenantsThanItHolds) {
  auto fluid = MakeFluid(ShareMode::kShared, 132);
  for (int i = 0; i < Fluid::kTenants; ++i) ASSERT_EQ(fluid->Add(1), i);
  EXPECT_EQ(fluid->Add(1), -1);
}

TEST(FluidTest, BytesOnALink) {
  auto fluid = MakeFluid(ShareMode::kShared, 8e6);  // bytes per second
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double a_end = fluid->Extend(a, 8e6, 8e6 * 1e-9, 8000);
  EXPECT_EQ(fluid->FinishTime(a, a_end), kMs);
  const double b_end = fluid->Extend(b, 8e6, 8e6 * 1e-9, 8000);
  EXPECT_EQ(fluid->FinishTime(a, a_end), 2 * kMs);
  EXPECT_EQ(fluid->FinishTime(b, b_end), 2 * kMs);
}

// A mark is crossed when it would be with one step, whatever the steps are in which the fluid advances.
TEST(FluidTest, TheSizeOfStepsDoesNotMatter) {
  for (const ShareMode mode : {ShareMode::kShared, ShareMode::kTimeslice}) {
    Nanos crossed[2];
    for (const bool fine : {false, true}) {
      auto fluid = MakeFluid(mode, 132, 2 * kMs);
      const int a = fluid->Add(1), b = fluid->Add(2);
      const double end = Kernel(*fluid, a, 7 * kMs);
      Kernel(*fluid, b, 9 * kMs);
      if (fine) {
        for (Nanos now = 0; now < 30 * kMs; now += 13'777) fluid->Advance(now);
      }
      fluid->Advance(30 * kMs);
      crossed[fine ? 1 : 0] = fluid->CrossedAt(a, end);
    }
    EXPECT_NEAR(static_cast<double>(crossed[0]), static_cast<double>(crossed[1]), 2);
  }
}

}  // namespace
}  // namespace simgpu
