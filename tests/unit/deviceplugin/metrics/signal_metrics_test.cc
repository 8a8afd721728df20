// Tests what the daemon exports about signals.
#include "deviceplugin/metrics/signal_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace crossover::deviceplugin {
namespace {

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

class SignalMetricsTest : public ::testing::Test {
 protected:
  // Returns the only value of a family, or nothing if it has none.
  std::optional<double> Value(const std::string& family) {
    for (const auto& candidate : metrics_.Collect()) {
      if (candidate.name != family || candidate.metric.size() != 1) continue;
      labels_ = candidate.metric.front().label;
      return candidate.metric.front().gauge.value + candidate.metric.front().counter.value;
    }
    return std::nullopt;
  }

  signals::ByGpu figures_;
  SignalMetrics metrics_{[this] { return figures_; }};
  std::vector<prometheus::ClientMetric::Label> labels_;
};

TEST_F(SignalMetricsTest, ADaemonWithoutSignalsHasNone) { EXPECT_TRUE(metrics_.Collect().empty()); }

TEST_F(SignalMetricsTest, ShowsWhatSignallersCost) {
  figures_[kGpu] = {.signallers = 2,
                    .host = {.resident_bytes = 3 << 20, .cpu_seconds = 1.5},
                    .exported_bytes = 2 << 20,
                    .again = 4};
  EXPECT_EQ(Value("crossover_signallers"), 2);
  EXPECT_EQ(Value("crossover_signaller_resident_bytes"), 3 << 20);
  EXPECT_EQ(Value("crossover_signaller_cpu_seconds_total"), 1.5);
  EXPECT_EQ(Value("crossover_signals_again_total"), 4);
  EXPECT_EQ(Value("crossover_signal_memory_bytes"), 2 << 20);
  ASSERT_EQ(labels_.size(), 2u);
  EXPECT_EQ(labels_[1].name, "source");
  EXPECT_EQ(labels_[1].value, "exported");
}

TEST_F(SignalMetricsTest, WhatIsNotKnownIsNotExported) {
  figures_[kGpu] = {};
  EXPECT_EQ(Value("crossover_signallers"), 0);
  for (const char* family : {"crossover_signaller_resident_bytes", "crossover_signaller_cpu_seconds_total",
                             "crossover_signal_memory_bytes"}) {
    EXPECT_EQ(Value(family), std::nullopt) << family;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
