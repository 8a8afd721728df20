#include "sidecar/session/config.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "sidecar/log/log.h"

namespace crossover::session {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::map<std::string, std::string> environment;
bool in_a_pod = false;

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    environment = {{"CROSSOVER_GANG", "a"}};
    in_a_pod = false;
  }
  void TearDown() override { log::SetLevel(log::Level::kWarn); }

  static const char* Get(const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  }

  // Parses `environment`. Puts what was logged into `said_`.
  Config Parse() {
    ::testing::internal::CaptureStderr();
    const Config config =
        ParseConfig(Get, [](const char* path) { return in_a_pod && std::string(path) == "/run/crossover"; });
    said_ = ::testing::internal::GetCapturedStderr();
    return config;
  }

  std::string said_;
};

TEST_F(ConfigTest, WithoutAGangItIsInertAndSilent) {
  environment.clear();
  EXPECT_FALSE(Parse().active);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ConfigTest, InAPodTheDaemonKnowsTheGang) {
  environment.clear();
  in_a_pod = true;
  const Config config = Parse();
  EXPECT_TRUE(config.active);
  EXPECT_STREQ(config.gang, "");
  EXPECT_STREQ(config.socket, "/run/crossover/arbiter.sock");
  environment["CROSSOVER_DISABLE"] = "1";
  EXPECT_FALSE(Parse().active);
}

TEST_F(ConfigTest, KillSwitch) {
  environment["CROSSOVER_DISABLE"] = "1";
  EXPECT_FALSE(Parse().active);
  environment["CROSSOVER_DISABLE"] = "0";
  EXPECT_TRUE(Parse().active);
}

TEST_F(ConfigTest, Defaults) {
  const Config config = Parse();
  EXPECT_TRUE(config.active);
  EXPECT_STREQ(config.socket, "/run/crossover/arbiter.sock");
  EXPECT_EQ(config.gang_size, 0u);
  EXPECT_EQ(config.transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_GPU_GATES));
  EXPECT_FALSE(config.launch_blocking);
  EXPECT_FALSE(config.turns_at_waits);
}

TEST_F(ConfigTest, Priorities) {
  EXPECT_EQ(Parse().priority, std::uint32_t{CROSSOVER_PRIORITY_NORMAL});
  environment["CROSSOVER_TURN_PRIORITY"] = "low";
  EXPECT_EQ(Parse().priority, std::uint32_t{CROSSOVER_PRIORITY_LOW});
  environment["CROSSOVER_TURN_PRIORITY"] = "high";
  EXPECT_EQ(Parse().priority, std::uint32_t{CROSSOVER_PRIORITY_HIGH});
  environment["CROSSOVER_TURN_PRIORITY"] = "urgent";
  EXPECT_FALSE(Parse().active);
  EXPECT_THAT(said_, HasSubstr("CROSSOVER_TURN_PRIORITY: expected high, normal or low, got urgent;"));
}

TEST_F(ConfigTest, CapsOnSlowdown) {
  EXPECT_EQ(Parse().max_slowdown, 0u);
  for (const auto& [text, thousandths] : std::map<std::string, std::uint32_t>{
           {"1.05", 1050}, {"1.2", 1200}, {"1.125", 1125}, {"2", 2000}, {"10", 10'000}, {"10.000", 10'000}}) {
    environment["CROSSOVER_MAX_SLOWDOWN"] = text;
    EXPECT_TRUE(Parse().active) << text;
    EXPECT_EQ(Parse().max_slowdown, thousandths) << text;
  }
  for (const char* text :
       {"", "1", "1.04", "10.001", "1.", ".5", "1.2345", "1,2", "-2", "99999999999999999999", "2x"}) {
    environment["CROSSOVER_MAX_SLOWDOWN"] = text;
    EXPECT_FALSE(Parse().active) << text;
  }
  EXPECT_THAT(
      said_,
      HasSubstr(
          "CROSSOVER_MAX_SLOWDOWN: expected a number from 1.05 to 10 with at most three decimals, got 2x;"));
}

TEST_F(ConfigTest, TakesWhatIsGiven) {
  environment.insert({{"CROSSOVER_SOCKET", "/tmp/s"},
                      {"CROSSOVER_GANG_SIZE", "16"},
                      {"CROSSOVER_GATES", "host"},
                      {"CROSSOVER_LOG", "debug"},
                      {"CUDA_LAUNCH_BLOCKING", "1"}});
  const Config config = Parse();
  EXPECT_STREQ(config.gang, "a");
  EXPECT_STREQ(config.socket, "/tmp/s");
  EXPECT_EQ(config.gang_size, 16u);
  EXPECT_EQ(config.transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_HOST_GATES));
  EXPECT_TRUE(config.launch_blocking);
  EXPECT_TRUE(config.active);
}

TEST_F(ConfigTest, TurnsMayEndAtWaitsWhereThatIsSwitchedOn) {
  environment["CROSSOVER_TURNS_AT_WAITS"] = "1";
  EXPECT_TRUE(Parse().turns_at_waits);
  environment["CROSSOVER_TURNS_AT_WAITS"] = "0";
  EXPECT_FALSE(Parse().turns_at_waits);
  EXPECT_EQ(said_, "");
}

TEST_F(ConfigTest, TheLimitIsAskedForWhereAPodsProcessLacksTheVariable) {
  EXPECT_FALSE(Parse().asks_for_limit);
  in_a_pod = true;
  EXPECT_TRUE(Parse().asks_for_limit) << "with a gang of its own, too";
  environment.clear();
  EXPECT_TRUE(Parse().asks_for_limit);
  environment["CROSSOVER_GPU_MEMORY"] = "";
  EXPECT_TRUE(Parse().asks_for_limit) << "what it was granted was not known when its environment was made";
  environment["CROSSOVER_GPU_MEMORY"] = "1Gi";
  EXPECT_FALSE(Parse().asks_for_limit);
}

TEST_F(ConfigTest, OneConnectionIsTheNumberOne) {
  EXPECT_FALSE(Parse().one_connection);
  for (const char* one : {"1", "01", " 1"}) {
    environment["CUDA_DEVICE_MAX_CONNECTIONS"] = one;
    EXPECT_TRUE(Parse().one_connection) << one;
  }
  for (const char* other : {"", "0", "8", "10", "x", "-1"}) {
    environment["CUDA_DEVICE_MAX_CONNECTIONS"] = other;
    EXPECT_FALSE(Parse().one_connection) << other;
  }
  EXPECT_EQ(said_, "") << "it is not our variable";
}

// The variable tells a pod what it was granted, and it is empty if nothing was granted.
TEST_F(ConfigTest, AnEmptyBudgetIsNone) {
  environment["CROSSOVER_GPU_MEMORY"] = "";
  const Config config = Parse();
  EXPECT_TRUE(config.active);
  EXPECT_EQ(config.gpu_memory, 0u);
  EXPECT_EQ(said_, "");
}

TEST_F(ConfigTest, RelayedGates) {
  environment["CROSSOVER_GATES"] = "relay";
  EXPECT_EQ(Parse().transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_RELAYED_GATES));
}

TEST_F(ConfigTest, SignalsAreTakenWhereTheyAreOfferedUnlessTheGatesAreNamed) {
  EXPECT_EQ(Parse().signals, ipc::Wish::kAsOffered);
  environment["CROSSOVER_GATES"] = "ipc";
  EXPECT_EQ(Parse().signals, ipc::Wish::kAsked);
  EXPECT_EQ(Parse().transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_GPU_GATES));
  for (const char* gates : {"gpu", "relay", "host"}) {
    environment["CROSSOVER_GATES"] = gates;
    EXPECT_EQ(Parse().signals, ipc::Wish::kNever) << gates;
  }
}

TEST_F(ConfigTest, MalformedValuesAreNamedInOneLineAndMakeItInert) {
  const std::pair<std::string, std::string> malformed[] = {{"CROSSOVER_GANG", std::string(200, 'x')},
                                                           {"CROSSOVER_GANG", "two words"},
                                                           {"CROSSOVER_GANG", "caf\xc3\xa9"},
                                                           {"CROSSOVER_SOCKET", std::string(108, 's')},
                                                           {"CROSSOVER_SOCKET", ""},
                                                           {"CROSSOVER_GANG_SIZE", "0"},
                                                           {"CROSSOVER_GANG_SIZE", "-1"},
                                                           {"CROSSOVER_GANG_SIZE", "4x"},
                                                           {"CROSSOVER_GATES", "gpus"},
                                                           {"CROSSOVER_TURNS_AT_WAITS", "yes"},
                                                           {"CROSSOVER_LOG", "loud"}};
  for (const auto& [key, value] : malformed) {
    environment = {{"CROSSOVER_GANG", "a"}};
    environment[key] = value;
    EXPECT_FALSE(Parse().active) << key << '=' << value;
    EXPECT_THAT(said_, HasSubstr(key + ": expected "));
    EXPECT_THAT(said_, HasSubstr(", got " + (value.empty() ? "\"\"" : value.substr(0, 3))));
    EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
  }
}

TEST_F(ConfigTest, TheRankIsWhatTheLauncherSays) {
  for (const char* name : {"RANK", "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    environment = {{name, "3"}};
    EXPECT_EQ(LauncherRank(Get, 4), 3) << name;
    EXPECT_EQ(LauncherRank(Get, 0), 3) << name << ", of a job whose size is not known";
    EXPECT_EQ(LauncherRank(Get, 3), 0) << name << ", of a job that has no such rank";
  }
  environment = {{"HOROVOD_RANK", "1"}, {"SLURM_PROCID", "2"}};
  EXPECT_EQ(LauncherRank(Get, 4), 1) << "the launcher of the ranks knows better than the one of the job";
}

TEST_F(ConfigTest, WhatIsNoRankIsRankZero) {
  environment.clear();
  EXPECT_EQ(LauncherRank(Get, 4), 0);
  for (const char* text : {"", "-1", " 2", "2x", "99999999999999999999"}) {
    environment = {{"HOROVOD_RANK", text}};
    EXPECT_EQ(LauncherRank(Get, 0), 0) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace crossover::session
