#include "extender/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ExtenderConfig, WhatIsSaidIsHeeded) {
  std::string error;
  const auto config = ParseConfig(
      "lease: off\nwebhook: {listen: off, drain_s: 5}\nhealth: {listen: '10.0.0.1:99'}\n"
      "gangs: {deadline_s: 7.5, topology: [zone, rack]}\n"
      "placement: {sharing: always, namespace_groups: [[a, b], [c]], context_reserve_mib: 256}\n",
      "x.yaml", &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->lease, "");
  EXPECT_EQ(config->webhook.listen.port, 0);
  EXPECT_EQ(config->webhook.drain_s, 5);
  EXPECT_EQ(config->health.address, "10.0.0.1");
  EXPECT_EQ(config->health.port, 99);
  EXPECT_EQ(config->gangs.deadline_s, 7.5);
  EXPECT_THAT(config->gangs.domains, ElementsAre("zone", "rack"));
  EXPECT_EQ(config->gangs.placement.sharing, placement::Sharing::kAlways);
  EXPECT_THAT(config->gangs.placement.namespace_groups, ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_EQ(config->gangs.placement.context_reserve, 256u << 20);
}

TEST(ExtenderConfig, FaultsAreToldWithLineKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(FaultIn("lease: x\ngangs:\n  deadline_s: soon\n"),
            "x.yaml:3: gangs.deadline_s: soon is not allowed: a number from 1 to 86400");
  EXPECT_EQ(
      FaultIn("scheduler: {listen: '0.0.0.0:80'}"),
      "x.yaml:1: scheduler.listen: 0.0.0.0:80 is not allowed: 127.0.0.1:port, with a port from 1 to 65535");
  EXPECT_EQ(FaultIn("webhook: {drain_s: 61}"),
            "x.yaml:1: webhook.drain_s: 61 is not allowed: a number from 0 to 60");
  EXPECT_EQ(FaultIn("health: {listen: '[::]:80'}"),
            "x.yaml:1: health.listen: [::]:80 is not allowed: IPv4 address:port, with a port from 1 to "
            "65535, or off");
  EXPECT_EQ(FaultIn("placement: {sharing: sometimes}"),
            "x.yaml:1: placement.sharing: sometimes is not allowed: always or when-full");
  EXPECT_THAT(FaultIn("gang: {}"), ::testing::StartsWith("x.yaml:1: gang: unknown key; allowed are "));
  EXPECT_EQ(FaultIn("webhook: {key_file: /k}"),
            "x.yaml:1: webhook: a map is not allowed: certificate_file and key_file together, or neither");
}

}  // namespace
}  // namespace crossover::extender
