// Tests what a machine's file may ask of its GPUs beyond sharing alone: limits of processes, collectives
// that wait for their SMs or lose speed beside kernels, and what a tenant without work could have had.
#include <gtest/gtest.h>

#include "tests/unit/simgpu/fluids.h"

namespace simgpu {
namespace {

double Ends(const Fluid& fluid, int tenant, double mark) {
  return static_cast<double>(fluid.FinishTime(tenant, mark));
}

TEST(FluidOptionsTest, PartialKernelsRunBesideEachOtherForNothing) {
  auto fluid = MakeFluid({.capacity = 132});
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double a_end = Kernel(*fluid, a, 10 * kMs, 66), b_end = Kernel(*fluid, b, 10 * kMs, 66);
  EXPECT_EQ(Ends(*fluid, a, a_end), 10 * kMs);
  EXPECT_EQ(Ends(*fluid, b, b_end), 10 * kMs);
}

// Two kernels want 0.8 of the GPU and get half of it each. They run at 0.5 / 0.8 of their speed, which is
// 1.25 in all.
TEST(FluidOptionsTest, KernelsOfPartOfTheGpuGainByRunningAtOnce) {
  auto fluid = MakeFluid({.capacity = 100});
  const int a = fluid->Add(1), b = fluid->Add(2);
  const double end = Kernel(*fluid, a, 10 * kMs, 80);
  Kernel(*fluid, b, 10 * kMs, 80);
  EXPECT_NEAR(Ends(*fluid, a, end), 20.0 * kMs / 1.25, 1);
}

TEST(FluidOptionsTest, ALimitedProcessRunsAtItsPartEvenAlone) {
  auto fluid = MakeFluid({.capacity = 132});
  const int a = fluid->Add(1, 66);
  const double end = Kernel(*fluid, a, 10 * kMs);
  EXPECT_EQ(Ends(*fluid, a, end), 20 * kMs);
  const int b = fluid->Add(2, 66);
  const double other = Kernel(*fluid, b, 10 * kMs);
  EXPECT_EQ(Ends(*fluid, a, end), 20 * kMs) << "the other's half is not its business";
  EXPECT_EQ(Ends(*fluid, b, other), 20 * kMs);
}

TEST(FluidOptionsTest, StreamsOfAProcessShareItsLimit) {
  auto fluid = MakeFluid({.capacity = 132});
  const int a = fluid->Add(1, 66), b = fluid->Add(1, 66), c = fluid->Add(2);
  Kernel(*fluid, a, 100 * kMs, 10);
  Kernel(*fluid, b, 100 * kMs);
  Kernel(*fluid, c, 100 * kMs);
  EXPECT_DOUBLE_EQ(fluid->ShareOf(a), 10);
  EXPECT_DOUBLE_EQ(fluid->ShareOf(b), 56);
  EXPECT_DOUBLE_EQ(fluid->ShareOf(c), 66);
}

TEST(FluidOptionsTest, ACollectiveCountsTowardsTheLimitOfItsProcess) {
  auto fluid = MakeFluid({.capacity = 132});
  const int ring = fluid->Add(1, 66), kernels = fluid->Add(1, 66);
  fluid->SetSpinning(ring, 40);
  Kernel(*fluid, kernels, 10 * kMs);
  EXPECT_DOUBLE_EQ(fluid->ShareOf(kernels), 26);
  fluid->SetSpinning(ring, 0);
  fluid->SetSpinning(ring, 80);
  EXPECT_DOUBLE_EQ(fluid->ShareOf(ring), 66) << "no more than the limit";
}

// By default a collective has its SMs at once. With `holders_wait` it gets them when the kernel that was
// there before it has ended, not when the stream of kernels has.
TEST(FluidOptionsTest, ACollectiveWaitsForTheEndOfTheKernelBeforeIt) {
  for (const bool waits : {false, true}) {
    auto fluid = MakeFluid({.capacity = 132, .holders_wait = waits});
    const int kernels = fluid->Add(1), ring = fluid->Add(2);
    for (int i = 0; i < 10; ++i) Kernel(*fluid, kernels, 2 * kMs);
    fluid->Advance(3 * kMs);
    fluid->SetSpinning(ring, 4);
    EXPECT_EQ(fluid->Active(ring), !waits);
    EXPECT_EQ(fluid->ActiveTime(ring), (waits ? 4 : 3) * kMs);
    fluid->Advance(5 * kMs);
    EXPECT_DOUBLE_EQ(fluid->Served(ring), (waits ? 1 : 2) * kMs);
    EXPECT_DOUBLE_EQ(fluid->ShareOf(kernels), 128);
  }
}

TEST(FluidOptionsTest, ACollectiveNeedNotWaitWhereItsSmsAreFree) {
  auto fluid = MakeFluid({.capacity = 132, .holders_wait = true});
  const int kernels = fluid->Add(1), ring = fluid->Add(2), other = fluid->Add(3);
  Kernel(*fluid, kernels, 10 * kMs, 100);
  fluid->Advance(kMs);
  fluid->SetSpinning(ring, 24);
  EXPECT_TRUE(fluid->Active(ring));
  fluid->SetSpinning(other, 24);
  EXPECT_FALSE(fluid->Active(other)) << "8 are left";
  fluid->SetSpinning(ring, 0);
  EXPECT_TRUE(fluid->Active(other));
}

// Two kernels have half of the GPU each. The first end leaves 66 SMs, which is too little for 80.
TEST(FluidOptionsTest, ALargeCollectiveWaitsForBothNeighbours) {
  auto fluid = MakeFluid({.capacity = 132, .holders_wait = true});
  const int a = fluid->Add(1), b = fluid->Add(2), ring = fluid->Add(3);
  for (int i = 0; i < 4; ++i) Kernel(*fluid, a, 2 * kMs, 66);
  for (int i = 0; i < 4; ++i) Kernel(*fluid, b, 3 * kMs, 66);
  fluid->Advance(kMs);
  fluid->SetSpinning(ring, 80);
  EXPECT_EQ(fluid->ActiveTime(ring), 3 * kMs);
}

TEST(FluidOptionsTest, WaitingCollectivesAreServedInTheOrderInWhichTheyAsked) {
  auto fluid = MakeFluid({.capacity = 132, .holders_wait = true});
  const int late = fluid->Add(1), early = fluid->Add(2), kernels = fluid->Add(3);
  Kernel(*fluid, kernels, 10 * kMs);
  fluid->Advance(kMs);
  fluid->SetSpinning(early, 80);
  fluid->Advance(2 * kMs);
  fluid->SetSpinning(late, 80);
  fluid->Advance(11 * kMs);
  EXPECT_TRUE(fluid->Active(early));
  EXPECT_FALSE(fluid->Active(late));
}

// Two groups take turns in slices of 2 ms. The first one has the GPU at once; each change costs `cost`.
TEST(FluidOptionsTest, ASwitchFromProcessToProcessTakesTime) {
  for (const Nanos cost : {Nanos{0}, kMs / 2}) {
    auto fluid =
        MakeFluid({.mode = ShareMode::kTimeslice, .capacity = 132, .quantum = 2 * kMs, .switch_cost = cost});
    const int a = fluid->Add(1), b = fluid->Add(2);
    const double a_end = Kernel(*fluid, a, 4 * kMs), b_end = Kernel(*fluid, b, 2 * kMs);
    EXPECT_EQ(Ends(*fluid, b, b_end), 4 * kMs + cost);
    EXPECT_EQ(Ends(*fluid, a, a_end), 6 * kMs + 2 * cost);
    fluid->Advance(2 * kMs + cost / 2);
    EXPECT_FALSE(fluid->Active(a));
    EXPECT_EQ(fluid->Active(b), cost == 0);
    fluid->Advance(6 * kMs + 2 * cost);
    EXPECT_EQ(fluid->Served(a), a_end);
    EXPECT_EQ(fluid->busy(), 6 * kMs) << "a switch is no work";
  }
}

TEST(FluidOptionsTest, TheProcessThatRanLastNeedsNoSwitch) {
  auto fluid =
      MakeFluid({.mode = ShareMode::kTimeslice, .capacity = 132, .quantum = 2 * kMs, .switch_cost = kMs});
  const int a = fluid->Add(1), b = fluid->Add(2);
  Kernel(*fluid, a, kMs);
  fluid->Advance(5 * kMs);
  EXPECT_EQ(Ends(*fluid, a, Kernel(*fluid, a, kMs)), 6 * kMs);
  fluid->Advance(10 * kMs);
  EXPECT_EQ(Ends(*fluid, b, Kernel(*fluid, b, kMs)), 12 * kMs);
  fluid->Advance(10 * kMs + kMs / 2);
  EXPECT_EQ(fluid->Spare(a), 5 * kMs * 132.0 - kMs * 132.0) << "no process can run during a switch";
}

// Each kernel has 10 us and runs beside `blocked` waits, of which each costs 2 us.
TEST(FluidOptionsTest, BlockedWaitsSlowShortKernelsDown) {
  for (const int blocked : {0, 1, 3}) {
    auto fluid = MakeFluid({.capacity = 132, .blocked_price = 2000});
    const int a = fluid->Add(1);
    for (int i = 0; i < blocked; ++i) fluid->SetBlocked(fluid->Add(2), WordPlace::kHost);
    double end = 0;
    for (int i = 0; i < 100; ++i) end = Kernel(*fluid, a, 10'000);
    EXPECT_NEAR(Ends(*fluid, a, end), 100 * (10'000 + 2000 * blocked), 2);
  }
}

TEST(FluidOptionsTest, ThePriceIsPaidWhileTheWaitLastsAndInTimeOfTheGpu) {
  auto fluid = MakeFluid({.capacity = 132, .blocked_price = static_cast<double>(kMs)});
  const int a = fluid->Add(1), b = fluid->Add(2), waits = fluid->Add(3);
  const double end = Kernel(*fluid, a, kMs);
  fluid->SetBlocked(waits, WordPlace::kHost);
  EXPECT_EQ(Ends(*fluid, a, end), 2 * kMs);
  fluid->Advance(kMs);
  fluid->SetBlocked(waits, WordPlace::kNone);
  EXPECT_EQ(Ends(*fluid, a, end), kMs + kMs / 2);
  fluid->SetBlocked(waits, WordPlace::kHost);
  fluid->Remove(waits);
  EXPECT_EQ(Ends(*fluid, a, end), kMs + kMs / 2) << "a process that is gone waits for nothing";
  fluid->Advance(3 * kMs);
  fluid->SetBlocked(fluid->Add(4), WordPlace::kHost);
  const double half = Kernel(*fluid, a, kMs, 132), other = Kernel(*fluid, b, kMs, 132);
  EXPECT_EQ(Ends(*fluid, a, half), 6 * kMs) << "2 ms beside the other kernel, and 1 ms of price";
  EXPECT_EQ(Ends(*fluid, b, other), 6 * kMs);
}

TEST(FluidOptionsTest, InTimeSlicesOnlyWaitsOfTheRunningProcessHaveAPrice) {
  for (const std::uint32_t group : {1u, 2u}) {
    auto fluid = MakeFluid({.mode = ShareMode::kTimeslice,
                            .capacity = 132,
                            .quantum = 2 * kMs,
                            .blocked_price = static_cast<double>(kMs)});
    const int a = fluid->Add(1);
    fluid->SetBlocked(fluid->Add(group), WordPlace::kHost);
    EXPECT_EQ(Ends(*fluid, a, Kernel(*fluid, a, kMs)), group == 1 ? 2 * kMs : kMs);
  }
}

TEST(FluidOptionsTest, ThePriceDependsOnWhereTheWordIs) {
  for (const auto& [of_host, of_device, price] : {std::tuple(2000, 0, 2 * 2000), std::tuple(0, 500, 3 * 500),
                                                  std::tuple(2000, 500, 2 * 2000 + 3 * 500)}) {
    auto fluid = MakeFluid({.capacity = 132,
                            .blocked_price = static_cast<double>(of_host),
                            .blocked_device_price = static_cast<double>(of_device)});
    const int a = fluid->Add(1);
    for (const WordPlace at :
         {WordPlace::kHost, WordPlace::kDevice, WordPlace::kHost, WordPlace::kDevice, WordPlace::kDevice}) {
      fluid->SetBlocked(fluid->Add(2), at);
    }
    EXPECT_EQ(Ends(*fluid, a, Kernel(*fluid, a, 10'000)), 10'000 + price);
  }
}

TEST(FluidOptionsTest, WithoutAPriceBlockedTenantsChangeNothing) {
  auto fluid = MakeFluid({.capacity = 132});
  const int a = fluid->Add(1);
  fluid->SetBlocked(fluid->Add(2), WordPlace::kHost);
  EXPECT_EQ(Ends(*fluid, a, Kernel(*fluid, a, kMs)), kMs);
}

// A collective of m takes (1 + s) m beside kernels that fill what it leaves, and m beside none.
TEST(FluidOptionsTest, ACollectiveLosesSpeedBesideKernels) {
  for (const double slowdown : {0.0, 0.5, 1.0}) {
    auto fluid = MakeFluid({.capacity = 132, .holder_slowdown = slowdown});
    const int ring = fluid->Add(1), kernels = fluid->Add(2);
    fluid->SetSpinning(ring, 4);
    EXPECT_EQ(Ends(*fluid, ring, 12 * kMs), 12 * kMs) << slowdown;
    Kernel(*fluid, kernels, 1000 * kMs);
    EXPECT_NEAR(Ends(*fluid, ring, 12 * kMs), (1 + slowdown) * 12 * kMs, 1) << slowdown;
  }
}

TEST(FluidOptionsTest, ACollectiveLosesLessBesideKernelsThatUseLess) {
  auto fluid = MakeFluid({.capacity = 132, .holder_slowdown = 1});
  const int ring = fluid->Add(1), kernels = fluid->Add(2);
  fluid->SetSpinning(ring, 4);
  Kernel(*fluid, kernels, 1000 * kMs, 64);  // half of the 128 that are left
  EXPECT_NEAR(Ends(*fluid, ring, 12 * kMs), 1.5 * 12 * kMs, 1);
}

TEST(FluidOptionsTest, ATenantWithoutWorkKnowsWhatItCouldHaveHad) {
  auto fluid = MakeFluid({.capacity = 132});
  const int a = fluid->Add(1), b = fluid->Add(2);
  Kernel(*fluid, a, 2 * kMs);
  Kernel(*fluid, b, 3 * kMs, 32);
  fluid->Advance(2 * kMs);
  const double begun = fluid->Spare(a);
  fluid->Advance(10 * kMs);
  // a's kernel ends at 2 * 132 / 100 = 2.64 ms, and b's at 3 ms. 100 SMs are left over until b's ends, and
  // all SMs afterwards.
  EXPECT_EQ(begun, 0);
  EXPECT_NEAR(fluid->Spare(a), 100 * (3.0 - 2.64) * kMs + 132.0 * 7 * kMs, 132);
  Kernel(*fluid, a, kMs);
  EXPECT_EQ(fluid->Spare(a), 0);
}

TEST(FluidOptionsTest, WhatTheOtherUsesIsNotSpare) {
  for (const ShareMode mode : {ShareMode::kShared, ShareMode::kTimeslice}) {
    auto fluid = MakeFluid({.mode = mode, .capacity = 132, .quantum = 2 * kMs});
    const int a = fluid->Add(1), b = fluid->Add(2);
    Kernel(*fluid, b, 20 * kMs);
    fluid->Advance(10 * kMs);
    EXPECT_EQ(fluid->Spare(a), 0);
  }
  auto fluid = MakeFluid({.mode = ShareMode::kTimeslice, .capacity = 132, .quantum = 2 * kMs});
  const int a = fluid->Add(1), b = fluid->Add(2);
  fluid->SetSpinning(b, 4);
  fluid->Advance(10 * kMs);
  EXPECT_EQ(fluid->Spare(a), 0) << "the collective burns its slices";
}

}  // namespace
}  // namespace simgpu
