#include "extender/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace crossover::extender {
namespace {

using ::testing::ElementsAre;

std::string FaultIn(const std::string& text) {
  std::string error;
  return ParseConfig(text, "x.yaml", &error) ? "" : error;
}

TEST(ExtenderConfig, AnEmptyFileIsTheDefaults) {
  std::string error;
  const auto config = ParseConfig("", "x.yaml", &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->scheduler.address, "127.0.0.1");
  EXPECT_EQ(config->lease, "crossover-scheduler");
  EXPECT_EQ(config->gangs.deadline_s, 120);
}

// Returns those rows of the documentation's table whose keys have numbers, as a configuration.
std::string Documented() {
  const std::regex row(R"(\| `(gangs|placement)\.([^|]*)\|[^|]*\| ([-0-9., ]+) \|)"), name(R"((\w+)`)");
  std::ifstream file(USAGE);
  std::map<std::string, std::string> sections;
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_search(line, found, row)) continue;
    const std::string keys = found[2];
    std::istringstream values(found[3]);
    for (auto key = std::sregex_iterator(keys.begin(), keys.end(), name); key != std::sregex_iterator();
         ++key) {
      std::string value;
      EXPECT_TRUE(std::getline(values, value, ',')) << line;
      sections[found[1]] += (*key)[1].str() + ": " + value + ", ";
    }
  }
  std::string text;
  for (const auto& [section, keys] : sections)
    text += section + ": {" + keys.substr(0, keys.size() - 2) + "}\n";
  return text;
}

TEST(ExtenderConfig, DefaultsAreThoseOfTheDocumentation) {
  std::string error;
  const std::string text = Documented();
  const auto documented = ParseConfig(text, USAGE, &error);
  ASSERT_TRUE(documented) << error;
  EXPECT_EQ(std::ranges::count(text, ':'), 2 + 15) << text;
  const GangSettings gangs, &said = documented->gangs;
  for (const auto of : {&GangSettings::deadline_s, &GangSettings::hold_s, &GangSettings::ungate_after_s,
                        &GangSettings::hold_off_s, &GangSettings::most_hold_off_s, &GangSettings::exclude_s,
                        &GangSettings::most_exclude_s, &GangSettings::spare_s}) {
    EXPECT_EQ(gangs.*of, said.*of) << text;
  }
  using placement::Settings;
  for (const auto of : {&Settings::efficiency, &Settings::min_gain, &Settings::memory_margin,
                        &Settings::spanning_bonus, &Settings::starvation_s, &Settings::starvation_runs}) {
    EXPECT_EQ(gangs.placement.*of, said.placement.*of) << text;
  }
  EXPECT_EQ(gangs.placement.context_reserve, said.placement.context_reserve);
}

// A scheduler waits 30 s for the answer to a bind.
TEST(ExtenderConfig, ABindIsAnsweredBeforeItsCallerGivesUp) { EXPECT_LT(GangSettings().hold_s, 30); }

TEST(ExtenderConfig, WhatIsSaidIsHeeded) {
  std::string error;
  const auto config = ParseConfig(
      "lease: off\nwebhook: {listen: off, drain_s: 5, shm: node, autoscalers: leave, shrink: "
      "[advise]}\nhealth: {listen: "
      "'10.0.0.1:99'}\n"
      "gangs: {deadline_s: 7.5, topology: [zone, rack], preemption: off, spare_s: 0,\n"
      "        gpu_speeds: {NVIDIA H100 80GB HBM3: 1, 'A100': 0.5}}\n"
      "placement: {sharing: always, namespace_groups: [[a, b], [c]], context_reserve_mib: 256}\n",
      "x.yaml", &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->lease, "");
  EXPECT_EQ(config->webhook.listen.port, 0);
  EXPECT_EQ(config->webhook.drain_s, 5);
  EXPECT_TRUE(config->webhook.node_shm);
  EXPECT_FALSE(config->webhook.protect_from_autoscalers);
  EXPECT_EQ(WebhookConfig().shrink, std::nullopt);
  EXPECT_EQ(config->webhook.shrink, std::vector<std::string>{"advise"});
  EXPECT_EQ(config->health.address, "10.0.0.1");
  EXPECT_EQ(config->health.port, 99);
  EXPECT_EQ(config->gangs.deadline_s, 7.5);
  EXPECT_TRUE(GangSettings().preemption);
  EXPECT_FALSE(config->gangs.preemption);
  EXPECT_EQ(config->gangs.spare_s, 0);
  EXPECT_THAT(config->gangs.domains, ElementsAre("zone", "rack"));
  EXPECT_THAT(config->gangs.gpu_speeds,
              ElementsAre(::testing::Pair("A100", 0.5), ::testing::Pair("NVIDIA H100 80GB HBM3", 1)));
  EXPECT_EQ(config->gangs.placement.sharing, placement::Sharing::kAlways);
  EXPECT_THAT(config->gangs.placement.namespace_groups, ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_EQ(config->gangs.placement.context_reserve, 256u << 20);
}

TEST(ExtenderConfig, FaultsAreToldWithLineKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(FaultIn("lease: x\ngangs:\n  deadline_s: soon\n"),
            "x.yaml:3: gangs.deadline_s: expected a number from 1 to 86400, got soon");
  EXPECT_EQ(FaultIn("gangs: {preemption: never}"),
            "x.yaml:1: gangs.preemption: expected off or on, got never");
  EXPECT_EQ(FaultIn("gangs: {spare_s: -1}"),
            "x.yaml:1: gangs.spare_s: expected a number from 0 to 86400, got -1");
  EXPECT_EQ(FaultIn("gangs: {gpu_speeds: [1]}"),
            "x.yaml:1: gangs.gpu_speeds: expected a map from models of GPUs to numbers, got a list");
  EXPECT_EQ(FaultIn("gangs:\n  gpu_speeds:\n    A100: fast"),
            "x.yaml:3: gangs.gpu_speeds.A100: expected a number from 0.001 to 1000, got fast");
  EXPECT_EQ(FaultIn("gangs: {gpu_speeds: {A100: 1, A100: 2}}"),
            "x.yaml:1: gangs.gpu_speeds: expected each model once, got A100");
  EXPECT_EQ(
      FaultIn("scheduler: {listen: '0.0.0.0:80'}"),
      "x.yaml:1: scheduler.listen: expected 127.0.0.1:port, with a port from 1 to 65535, got 0.0.0.0:80");
  EXPECT_EQ(FaultIn("webhook: {drain_s: 61}"),
            "x.yaml:1: webhook.drain_s: expected a number from 0 to 60, got 61");
  EXPECT_EQ(FaultIn("webhook: {shm: both}"), "x.yaml:1: webhook.shm: expected node or pod, got both");
  EXPECT_EQ(FaultIn("webhook: {autoscalers: stop}"),
            "x.yaml:1: webhook.autoscalers: expected leave or protect, got stop");
  EXPECT_EQ(FaultIn("webhook: {shrink: [advise, fp8]}"),
            "x.yaml:1: webhook.shrink: expected off, advise, bf16, q8, adaptive or auto, got fp8");
  EXPECT_EQ(FaultIn("webhook: {shrink: off}"),
            "x.yaml:1: webhook.shrink: expected a list of levels, got off");
  EXPECT_EQ(FaultIn("health: {listen: '[::1]:80'}"),
            "x.yaml:1: health.listen: expected IPv4 address:port or [::]:port, with a port from 1 to 65535, "
            "or off, got [::1]:80");
  EXPECT_THAT(FaultIn("health: {listen: '[::]'}"),
              ::testing::StartsWith("x.yaml:1: health.listen: expected"));
  EXPECT_EQ(FaultIn("placement: {sharing: sometimes}"),
            "x.yaml:1: placement.sharing: expected always or when-full, got sometimes");
  EXPECT_THAT(FaultIn("gang: {}"), ::testing::StartsWith("x.yaml:1: gang: unknown key; expected one of "));
  EXPECT_EQ(
      FaultIn("webhook: {key_file: /k}"),
      "x.yaml:1: webhook: expected certificate_file and key_file together, or neither, got key_file alone");
}

}  // namespace
}  // namespace crossover::extender
