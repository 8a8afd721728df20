#include "deviceplugin/metrics/job_metrics.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "deviceplugin/metrics/gpu_metrics.h"
#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;

// Returns the lines that Prometheus gets, without the comments.
std::vector<std::string> Series(const prometheus::Collectable& metrics) {
  std::istringstream text(prometheus::TextSerializer().Serialize(metrics.Collect()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.front() != '#') lines.push_back(line);
  }
  return lines;
}

ClientView Client(std::uint64_t id, const std::string& gang, const std::string& pod) {
  ClientView client;
  const auto member = arbiter::MadeMember(id, gang, "GPU-0");
  member->name_space = "team";
  member->pod = pod;
  client.member = member;
  client.shares = true;
  client.compute = 20 * kMs;
  client.away = 12 * kMs;
  client.input_wait = 4 * kMs;
  client.present_step = client.step = 40 * kMs;
  client.alone = StepAlone{.each = 32 * kMs, .age = 5000 * kMs};
  client.slowdown = 1.25;
  return client;
}

GpuView Gpu(std::vector<ClientView> clients) {
  GpuView gpu;
  gpu.uuid = "GPU-0";
  gpu.clients = std::move(clients);
  return gpu;
}

TEST(JobMetricsTest, SaysWhatSharingCostsAndGainsEachJob) {
  GpuView gpu = Gpu({Client(1, "team/a", "a-0"), Client(2, "team/b", "b-0")});
  gpu.gain = 1.6;
  gpu.gain_error = 0.06;
  gpu.clients[1].alone->source = StepAlone::Source::kEstimated;
  const auto series = Series(JobMetrics([&gpu] { return std::vector<GpuView>{gpu}; }));
  const auto has = [&series](const std::string& line) {
    return std::find(series.begin(), series.end(), line) != series.end();
  };
  const std::string a = R"({gpu_uuid="GPU-0",gang="team/a",namespace="team",pod="a-0")";
  const std::string b = R"({gpu_uuid="GPU-0",gang="team/b",namespace="team",pod="b-0")";
  const std::string beside_b = a + R"(,peer_gang="team/b")";
  EXPECT_TRUE(has("crossover_step_shared_seconds" + beside_b + "} 0.04"));
  EXPECT_TRUE(has("crossover_step_alone_seconds" + a + R"(,source="measured"} 0.032)"));
  EXPECT_TRUE(has("crossover_step_alone_seconds" + b + R"(,source="estimated"} 0.032)"));
  EXPECT_TRUE(has("crossover_step_alone_age_seconds" + a + "} 5"));
  EXPECT_TRUE(has("crossover_compute_seconds" + a + "} 0.02"));
  EXPECT_TRUE(has("crossover_communication_seconds" + a + R"(,source="measured"} 0.008)"));
  EXPECT_TRUE(has("crossover_input_wait_seconds" + a + "} 0.004"));
  EXPECT_TRUE(has("crossover_exposed_communication_ratio" + a + R"(,source="measured"} 0.25)"));
  EXPECT_TRUE(has("crossover_slowdown_ratio" + beside_b + R"(,source="measured"} 1.25)"));
  EXPECT_TRUE(has("crossover_gain_error_ratio" + beside_b + "} 0.06"));
  EXPECT_TRUE(has("crossover_gain_uncertain" + beside_b + "} 1"));
  EXPECT_TRUE(has("crossover_gain_ratio" + beside_b + R"(,source="estimated"} 1.6)"));
  EXPECT_TRUE(has("crossover_eta_ratio" + beside_b + R"(,source="estimated"} 1)"));
  EXPECT_TRUE(has(R"(crossover_gpu_busy_ratio{gpu_uuid="GPU-0"} 1)"));
  EXPECT_EQ(series.size(), 12u * 2 + 1) << ::testing::PrintToString(series);
}

TEST(JobMetricsTest, AClientWithoutAPodHasNoLabelsOfOne) {
  GpuView gpu = Gpu({Client(1, "a", "")});
  gpu.clients[0].shares = false;
  gpu.clients[0].slowdown.reset();
  for (const std::string& line : Series(JobMetrics([&gpu] { return std::vector<GpuView>{gpu}; }))) {
    EXPECT_EQ(line.find("pod="), std::string::npos) << line;
    EXPECT_EQ(line.find("peer_gang="), std::string::npos) << line;
  }
}

TEST(GpuMetricsTest, SaysWhatTheDriverSays) {
  const auto series = Series(GpuMetrics([] {
    return GpuMetrics::Usages{{"GPU-0", {.busy = 0.75, .memory_used = 3, .memory_total = 4}}, {"GPU-1", {}}};
  }));
  EXPECT_EQ(series,
            (std::vector<std::string>{R"(crossover_gpu_nvml_utilization_ratio{gpu_uuid="GPU-0"} 0.75)",
                                      R"(crossover_gpu_memory_used_bytes{gpu_uuid="GPU-0"} 3)",
                                      R"(crossover_gpu_memory_total_bytes{gpu_uuid="GPU-0"} 4)"}));
}

}  // namespace
}  // namespace crossover::deviceplugin
