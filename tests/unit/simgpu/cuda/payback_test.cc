// Tests that kernel time is conserved although the thread that stands for a stream is late: what the thread
// owes is made up for, and no GPU does more than it could. The stream, its thread and its neighbours run in
// simulated time.
#include "simgpu/cuda/payback.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "simgpu/model/constants.h"

namespace simgpu {
namespace {

constexpr Nanos kUs = 1'000;
constexpr Nanos kMs = 1'000'000;
constexpr double kSms = 132;

// A Stream has a thread that wakes up late behind each memory operation.
struct Stream {
  Fluid& fluid;
  int tenant;
  Payback payback = {};
  double given = 0;    // ns of kernels that the GPU was given
  double made_up = 0;  // ns by which they were shortened
  Nanos latest = 0;    // the longest that the thread was late

  void RunKernel(double ns, double sms) {
    const double off = payback.TakeOff(ns, sms);
    made_up += off;
    given += ns - off;
    fluid.Advance(fluid.FinishTime(tenant, fluid.Extend(tenant, sms, 1.0, ns - off)));
  }
  // Lets the thread come `late` after the kernel before it ended.
  void MemoryOperation(Nanos late) {
    fluid.Advance(fluid.now() + late);
    payback.Owe(late, fluid.Spare(tenant));
    latest = std::max(latest, late);
  }
};

std::unique_ptr<Fluid> MakeFluid() {
  auto fluid = std::make_unique<Fluid>();
  fluid->Reset({.capacity = kSms}, 0);
  return fluid;
}

// The thread is late by any time up to 100 us, and the kernels have any length. In the end the GPU has
// taken what was asked for, except for what the last kernels still owe.
TEST(PaybackTest, ALongRunTakesWhatWasAskedForWithAndWithoutMemoryOperations) {
  for (const bool operations : {false, true}) {
    std::mt19937 draw(7);
    auto fluid = MakeFluid();
    Stream stream{*fluid, fluid->Add(1)};
    double asked = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double ns = 200.0 * kUs + static_cast<double>(draw() % (800 * kUs));
      asked += ns;
      stream.RunKernel(ns, kSms);
      if (operations) stream.MemoryOperation(static_cast<Nanos>(draw() % (100 * kUs)));
    }
    const double took = static_cast<double>(fluid->now());
    EXPECT_NEAR(stream.given + stream.made_up, asked, 1);
    EXPECT_GE(took, asked - 1);
    EXPECT_LE(took, asked + 100 * kUs + 20'000)
        << "the last operation, and a rounding of 1 ns for each kernel";
    EXPECT_EQ(stream.made_up > 0, operations);
  }
}

// A short kernel makes up for half of itself at most. The rest waits for longer kernels.
TEST(PaybackTest, WhatAShortKernelCannotMakeUpForIsKept) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  for (int i = 0; i < 4; ++i) {
    stream.RunKernel(100.0 * kUs, kSms);
    stream.MemoryOperation(70 * kUs);
  }
  stream.RunKernel(10.0 * kMs, kSms);
  EXPECT_NEAR(static_cast<double>(fluid->now()), 10.4 * kMs, 5);
}

// A partial kernel makes up for what it would have done: for its own time, not for that of all SMs.
TEST(PaybackTest, APartialKernelMakesUpForNoMoreThanItsOwnTime) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  stream.RunKernel(1.0 * kMs, 12);
  stream.MemoryOperation(50 * kUs);
  stream.RunKernel(1.0 * kMs, 12);
  EXPECT_NEAR(static_cast<double>(fluid->now()), 2.0 * kMs, 2);
  stream.MemoryOperation(50 * kUs);
  stream.RunKernel(1.0 * kMs, 12);
  EXPECT_NEAR(static_cast<double>(fluid->now()), 3.0 * kMs, 3);
}

// If a neighbour used the GPU meanwhile, that time is gone: the GPU serves no more than it has.
TEST(PaybackTest, WhatANeighbourUsedIsNotPaidBack) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  const int neighbour = fluid->Add(2);
  fluid->Extend(neighbour, kSms, 1.0, 1e12);
  for (int i = 0; i < 1000; ++i) {
    stream.RunKernel(0.5 * kMs, kSms);
    stream.MemoryOperation(60 * kUs);
  }
  const double served = stream.given + stream.made_up + fluid->Served(neighbour);
  EXPECT_LE(served, static_cast<double>(fluid->now()) + 1);
  EXPECT_EQ(stream.made_up, 0);
}

// A neighbour's collective holds 4 SMs. The other SMs were spare, and their time is paid back.
TEST(PaybackTest, BesideACollectiveTheRestIsPaidBack) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  fluid->SetSpinning(fluid->Add(2), 4);
  for (int i = 0; i < 1000; ++i) {
    stream.RunKernel(0.5 * kMs, kSms);
    stream.MemoryOperation(60 * kUs);
  }
  EXPECT_NEAR(static_cast<double>(fluid->now()), 500.0 * kMs * 132 / 128, 60.0 * kUs + 2000);
}

TEST(PaybackTest, NoMoreThanTheLimitIsOwed) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  stream.RunKernel(1.0 * kMs, kSms);
  stream.MemoryOperation(5 * kMs);
  EXPECT_NEAR(static_cast<double>(stream.payback.Behind(kSms)), static_cast<double>(constants::kMostOwed), 1);
  stream.RunKernel(10.0 * kMs, kSms);
  EXPECT_NEAR(stream.made_up, static_cast<double>(constants::kMostOwed), 1);
}

TEST(PaybackTest, WhereTheGpuWouldHaveWaitedNothingIsOwed) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  stream.RunKernel(1.0 * kMs, kSms);
  stream.MemoryOperation(50 * kUs);
  stream.payback.Clear();
  EXPECT_EQ(stream.payback.TakeOff(kMs, kSms), 0);
  EXPECT_EQ(stream.payback.Behind(kSms), 0);
}

// Two operations behind one kernel report the same delay.
TEST(PaybackTest, TwoOperationsInARowCountOnce) {
  auto fluid = MakeFluid();
  Stream stream{*fluid, fluid->Add(1)};
  stream.RunKernel(1.0 * kMs, kSms);
  stream.MemoryOperation(50 * kUs);
  stream.payback.Owe(50 * kUs, fluid->Spare(stream.tenant));
  EXPECT_NEAR(static_cast<double>(stream.payback.Behind(kSms)), 50 * kUs, 1);
}

}  // namespace
}  // namespace simgpu
