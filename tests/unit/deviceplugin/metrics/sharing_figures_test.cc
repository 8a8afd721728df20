#include "deviceplugin/metrics/sharing_figures.h"

#include <gtest/gtest.h>

#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;

// A Made is a client whose iteration takes `compute` and `away` alone, and `step` now.
struct Made {
  const char* gang;
  turn::Time compute, away, step;
};

class SharingFiguresTest : public ::testing::Test {
 protected:
  void Add(const Made& made) {
    ClientView& client = view_.clients.emplace_back();
    client.member = arbiter::MadeMember(view_.clients.size(), made.gang, "GPU-0");
    client.compute = made.compute;
    client.away = made.away;
    client.present_step = made.step;
    client.alone = StepAlone{.each = made.compute + made.away, .age = 3000 * kMs};
    Together();
  }
  // Fills in what the statistics would say of the clients together.
  void Together() {
    double gain = 0;
    for (ClientView& client : view_.clients) {
      client.shares = view_.clients.size() > 1;
      if (!client.shares) continue;
      client.slowdown = static_cast<double>(*client.present_step) / static_cast<double>(client.alone->each);
      gain += 1 / *client.slowdown;
    }
    if (view_.clients.size() > 1) view_.gain = gain;
  }

  GpuView view_;
};

TEST_F(SharingFiguresTest, EqualJobsInPerfectTurns) {
  Add({"a", 20 * kMs, 12 * kMs, 40 * kMs});
  Add({"b", 20 * kMs, 12 * kMs, 40 * kMs});
  const GpuFigures gpu = FiguresOf(view_);
  EXPECT_DOUBLE_EQ(gpu.gain->value, 1.6);  // 2 * 32 / 40
  EXPECT_DOUBLE_EQ(gpu.eta->value, 1);     // T* = max(2 * 20, 32)
  EXPECT_DOUBLE_EQ(*gpu.busy, 1);
  EXPECT_FALSE(gpu.gain->estimated || gpu.eta->estimated);
  const ClientFigures& a = gpu.clients[0];
  EXPECT_DOUBLE_EQ(*a.step_shared_s, 0.040);
  EXPECT_DOUBLE_EQ(a.step_alone_s->value, 0.032);
  EXPECT_DOUBLE_EQ(*a.step_alone_age_s, 3);
  EXPECT_DOUBLE_EQ(*a.compute_s, 0.020);
  EXPECT_DOUBLE_EQ(a.communication_s->value, 0.012);
  EXPECT_DOUBLE_EQ(a.exposed_ratio->value, 0.375);
  EXPECT_DOUBLE_EQ(a.slowdown->value, 1.25);
}

TEST_F(SharingFiguresTest, EtaIsTheBoundOverTheCycle) {
  Add({"a", 20 * kMs, 30 * kMs, 62'500'000});
  Add({"b", 10 * kMs, 15 * kMs, 62'500'000});
  EXPECT_DOUBLE_EQ(FiguresOf(view_).eta->value, 0.8) << "T* is the longer job alone, 50 ms";
}

TEST_F(SharingFiguresTest, EtaOfUnequalRatesIsHowFullTheGpuIs) {
  Add({"a", 20 * kMs, 20 * kMs, 50 * kMs});  // 0.4 of the GPU
  Add({"b", 5 * kMs, 5 * kMs, 12'500'000});  // likewise
  const GpuFigures gpu = FiguresOf(view_);
  EXPECT_DOUBLE_EQ(gpu.eta->value, 0.8) << "neither the GPU nor a job could do more than a quarter more";
  EXPECT_DOUBLE_EQ(*gpu.busy, 0.8);
  EXPECT_DOUBLE_EQ(gpu.gain->value, 1.6);
}

TEST_F(SharingFiguresTest, WhoComputesAtOnceKeepsNoGpuBusyTwice) {
  Add({"a", 20 * kMs, 0, 20 * kMs});
  Add({"b", 20 * kMs, 0, 20 * kMs});
  EXPECT_DOUBLE_EQ(*FiguresOf(view_).busy, 1);
  EXPECT_DOUBLE_EQ(FiguresOf(view_).gain->value, 2);
}

TEST_F(SharingFiguresTest, AJobAloneHasNothingThatIsShared) {
  Add({"a", 20 * kMs, 12 * kMs, 32 * kMs});
  const GpuFigures gpu = FiguresOf(view_);
  EXPECT_FALSE(gpu.gain || gpu.eta || gpu.clients[0].step_shared_s || gpu.clients[0].slowdown);
  EXPECT_DOUBLE_EQ(*gpu.busy, 0.625);
  EXPECT_EQ(gpu.clients[0].peers, "");
}

TEST_F(SharingFiguresTest, OneEstimateMakesWhatRestsOnItEstimated) {
  Add({"a", 20 * kMs, 12 * kMs, 40 * kMs});
  Add({"b", 20 * kMs, 12 * kMs, 40 * kMs});
  view_.clients[1].alone->source = StepAlone::Source::kEstimated;
  view_.clients[1].away = 11 * kMs;
  const GpuFigures gpu = FiguresOf(view_);
  EXPECT_TRUE(gpu.gain->estimated && gpu.eta->estimated);
  EXPECT_FALSE(gpu.clients[0].slowdown->estimated);
  EXPECT_TRUE(gpu.clients[1].slowdown->estimated && gpu.clients[1].step_alone_s->estimated);
  EXPECT_DOUBLE_EQ(gpu.clients[1].communication_s->value, 0.011) << "the gaps: nothing better is known";
  EXPECT_TRUE(gpu.clients[1].communication_s->estimated && gpu.clients[1].exposed_ratio->estimated);
  view_.clients[1].alone->source = StepAlone::Source::kRemembered;
  EXPECT_FALSE(FiguresOf(view_).gain->estimated) << "it was measured, if earlier";
}

TEST_F(SharingFiguresTest, WhatIsNotKnownIsNotSaid) {
  Add({"a", 20 * kMs, 12 * kMs, 40 * kMs});
  Add({"b", 20 * kMs, 12 * kMs, 40 * kMs});
  view_.clients[1].compute = view_.clients[1].away = std::nullopt;
  GpuFigures gpu = FiguresOf(view_);
  EXPECT_TRUE(gpu.gain);
  EXPECT_FALSE(gpu.eta || gpu.busy);
  EXPECT_FALSE(gpu.clients[1].compute_s || gpu.clients[1].communication_s || gpu.clients[1].exposed_ratio);
  view_.gain.reset();
  view_.clients[0].present_step.reset();  // it does not come any more
  gpu = FiguresOf(view_);
  EXPECT_FALSE(gpu.gain || gpu.eta || gpu.busy || gpu.clients[0].step_shared_s);
  EXPECT_FALSE(FiguresOf(GpuView{}).busy) << "no client is there";
}

TEST_F(SharingFiguresTest, ComputeThatIsLongerThanTheStepLeavesNothingExposed) {
  Add({"a", 20 * kMs, 0, 20 * kMs});
  view_.clients[0].compute = 20 * kMs + 1;
  EXPECT_DOUBLE_EQ(FiguresOf(view_).clients[0].communication_s->value, 0);
}

TEST_F(SharingFiguresTest, PeersAreNamedInOrder) {
  Add({"c", 1 * kMs, 1 * kMs, 4 * kMs});
  Add({"a", 1 * kMs, 1 * kMs, 4 * kMs});
  Add({"b", 1 * kMs, 1 * kMs, 4 * kMs});
  EXPECT_EQ(FiguresOf(view_).clients[0].peers, "a,b");
  EXPECT_EQ(FiguresOf(view_).clients[1].peers, "b,c");
}

}  // namespace
}  // namespace crossover::deviceplugin
