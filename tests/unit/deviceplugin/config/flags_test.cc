#include "deviceplugin/config/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr char kUuid0[] = "GPU-00000000-0000-0000-0000-000000000000";
constexpr char kUuid1[] = "GPU-00000000-0000-0000-0000-000000000001";

FlagResult ParseList(const std::vector<const char*>& arguments) { return ParseFlags(arguments); }

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const FlagResult result = ParseList(arguments);
  const auto* error = std::get_if<FlagError>(&result);
  return error == nullptr ? "" : error->text;
}

TEST(FlagsTest, NoFlagsAreTheDefaults) {
  const Config config = std::get<Config>(ParseList({}));
  EXPECT_EQ(config.arbiter.socket.path, "/run/crossover/arbiter.sock");
  EXPECT_EQ(config.arbiter.live.policy, arbiter::Policy::kEnforce);
  EXPECT_FALSE(config.arbiter.live.gpus.has_value());
  EXPECT_TRUE(config.arbiter.live.guard);
  EXPECT_TRUE(config.trace_file.empty());
}

TEST(FlagsTest, EachFlagSetsItsValue) {
  const std::string both = std::string(kUuid0) + "," + kUuid1;
  const Config config = std::get<Config>(ParseList({"--socket",
                                                    "/tmp/s",
                                                    "--socket-mode",
                                                    "0660",
                                                    "--socket-group",
                                                    "0",
                                                    "--mode",
                                                    "observe",
                                                    "--gpus",
                                                    both.c_str(),
                                                    "--tie-window-us",
                                                    "500",
                                                    "--guard",
                                                    "off",
                                                    "--watchdog-floor-ms",
                                                    "300",
                                                    "--trace",
                                                    "t.jsonl",
                                                    "--log-level",
                                                    "debug"}));
  EXPECT_EQ(config.arbiter.socket.path, "/tmp/s");
  EXPECT_EQ(config.arbiter.socket.mode, 0660u);
  EXPECT_EQ(config.arbiter.socket.group, gid_t{0});
  EXPECT_EQ(config.arbiter.live.policy, arbiter::Policy::kObserve);
  EXPECT_THAT(*config.arbiter.live.gpus, ElementsAre(kUuid0, kUuid1));
  EXPECT_EQ(config.arbiter.live.turn.policy.tie_window, 500'000);
  EXPECT_FALSE(config.arbiter.live.guard);
  EXPECT_EQ(config.arbiter.live.turn.watchdog.floor, 300'000'000);
  EXPECT_EQ(config.trace_file, "t.jsonl");
  EXPECT_EQ(config.log_level, logging::Level::kDebug);
}

TEST(FlagsTest, ErrorsNameFlagValueAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf({"--mode", "maybe"}), "--mode: expected enforce, observe or off, got maybe");
  EXPECT_THAT(ErrorOf({"--socket", "relative"}),
              StrEq("--socket: expected an absolute path of at most 107 bytes, got relative"));
  EXPECT_THAT(ErrorOf({"--gpus", "0"}), EndsWith("-xxxxxxxxxxxx), got 0"));
  EXPECT_THAT(ErrorOf({"--gpus", ""}), HasSubstr("--gpus:"));
  EXPECT_THAT(ErrorOf({"--tie-window-us", "10001"}), HasSubstr("10000"));
  EXPECT_THAT(ErrorOf({"--watchdog-floor-ms", "0"}), HasSubstr("1 to 60000"));
  EXPECT_THAT(ErrorOf({"--guard", "maybe"}), StrEq("--guard: expected on or off, got maybe"));
  EXPECT_THAT(ErrorOf({"--socket-mode", "999"}), HasSubstr("octal"));
  EXPECT_THAT(ErrorOf({"--socket-group", "no such group"}), HasSubstr("group of this machine"));
  EXPECT_THAT(ErrorOf({"--log-level", "loud"}), HasSubstr("error, warn, info or debug"));
  EXPECT_THAT(ErrorOf({"--trace"}), StrEq("--trace: expected a file name, got no value"));
  EXPECT_THAT(ErrorOf({"--gpu", "all"}), HasSubstr("--gpu: unknown flag"));
}

TEST(FlagsTest, HelpAndVersionWin) {
  EXPECT_TRUE(std::holds_alternative<HelpWanted>(ParseList({"--mode", "off", "--help"})));
  EXPECT_TRUE(std::holds_alternative<VersionWanted>(ParseList({"--version"})));
}

TEST(ValuesTest, TieWindow) {
  turn::PolicySettings settings;
  ASSERT_TRUE(ParseTieWindow("off", &settings));
  EXPECT_FALSE(settings.tie_rule);
  ASSERT_TRUE(ParseTieWindow("auto", &settings));
  EXPECT_TRUE(settings.tie_rule);
  EXPECT_EQ(settings.tie_window, 0);
  EXPECT_FALSE(ParseTieWindow("0", &settings));
  EXPECT_FALSE(ParseTieWindow("5ms", &settings));
}

TEST(ValuesTest, ListenAddresses) {
  EXPECT_TRUE(ValidListenAddress("127.0.0.1:9465"));
  EXPECT_TRUE(ValidListenAddress("[::1]:0"));
  EXPECT_FALSE(ValidListenAddress("9465"));
  EXPECT_FALSE(ValidListenAddress(":9465"));
  EXPECT_FALSE(ValidListenAddress("localhost:"));
  EXPECT_FALSE(ValidListenAddress("localhost:65536"));
}

TEST(ConfigTest, NamesWhatNeedsARestart) {
  Config running, wanted;
  wanted.arbiter.live.policy = arbiter::Policy::kOff;
  wanted.log_level = logging::Level::kDebug;
  EXPECT_EQ(NeedRestart(running, wanted), "");
  wanted.trace_file = "/x";
  wanted.transport = signals::Transport::kIpc;
  wanted.arbiter.socket.path = "/y";
  EXPECT_EQ(NeedRestart(running, wanted), "socket, trace_file, transport");
}

}  // namespace
}  // namespace crossover::deviceplugin
