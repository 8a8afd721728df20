#include "deviceplugin/config/yaml_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using ::testing::ElementsAre;

std::optional<Config> ParseText(const std::string& text) {
  std::string error;
  auto config = ParseYamlConfig(text, "f.yaml", &error);
  EXPECT_TRUE(config.has_value()) << error;
  return config;
}

std::string ErrorOf(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ParseYamlConfig(text, "f.yaml", &error).has_value()) << text;
  return error;
}

TEST(YamlConfigTest, AnEmptyFileIsTheDefaults) {
  for (const char* text : {"", "# nothing\n", "---\n"}) {
    const auto config = ParseText(text);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->arbiter.socket.path, "/run/crossover/arbiter.sock");
    EXPECT_EQ(config->metrics_listen, "");
    EXPECT_EQ(config->api_socket, "/run/crossover/api.sock");
    EXPECT_EQ(config->profiles, "/var/lib/crossover/profiles");
  }
}

TEST(YamlConfigTest, ReadsEveryKey) {
  const auto config = ParseText(R"(
socket:
  path: /tmp/a.sock
  mode: "0660"
  group: 0
limits:
  connections: 10
  connections_per_user: 5
  gpus: 2
metrics:
  listen: 127.0.0.1:9465
api:
  socket: /tmp/b.sock
gpus:
  - GPU-00000000-0000-0000-0000-000000000000
  - GPU-00000000-0000-0000-0000-000000000001
mode: observe
tie_window_us: 1500
quantum_us: 2000
guard: off
longest_wait_ms: 300
watchdog:
  floor_ms: 100
  factor: 8
  offences: 3
  forgive_s: 60
trace_file: /tmp/trace.jsonl
profiles: /tmp/profiles
transport: ipc
log_level: warn
log_format: json
)");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->arbiter.socket.path, "/tmp/a.sock");
  EXPECT_EQ(config->arbiter.socket.mode, 0660u);
  EXPECT_EQ(config->arbiter.socket.group, gid_t{0});
  EXPECT_EQ(config->arbiter.limits.connections, 10u);
  EXPECT_EQ(config->arbiter.limits.connections_per_user, 5u);
  EXPECT_EQ(config->arbiter.limits.gpus, 2u);
  EXPECT_EQ(config->metrics_listen, "127.0.0.1:9465");
  EXPECT_EQ(config->api_socket, "/tmp/b.sock");
  EXPECT_THAT(*config->arbiter.live.gpus, ElementsAre("GPU-00000000-0000-0000-0000-000000000000",
                                                      "GPU-00000000-0000-0000-0000-000000000001"));
  EXPECT_EQ(config->arbiter.live.policy, arbiter::Policy::kObserve);
  EXPECT_EQ(config->arbiter.live.turn.policy.tie_window, 1'500'000);
  EXPECT_EQ(config->arbiter.live.turn.policy.quantum, 2'000'000);
  EXPECT_FALSE(config->arbiter.live.guard);
  EXPECT_EQ(config->arbiter.live.turn.policy.longest_wait, 300'000'000);
  EXPECT_EQ(config->arbiter.live.turn.watchdog.floor, 100'000'000);
  EXPECT_EQ(config->arbiter.live.turn.watchdog.factor, 8);
  EXPECT_EQ(config->arbiter.live.turn.watchdog.offences, 3u);
  EXPECT_EQ(config->arbiter.live.turn.watchdog.forgive, 60'000'000'000);
  EXPECT_EQ(config->trace_file, "/tmp/trace.jsonl");
  EXPECT_EQ(config->profiles, "/tmp/profiles");
  EXPECT_EQ(config->transport, signals::Transport::kIpc);
  EXPECT_EQ(config->log_level, logging::Level::kWarn);
  EXPECT_EQ(config->log_format, logging::Format::kJson);
}

TEST(YamlConfigTest, TheApiIsBesideTheSocketUnlessItIsNamedOrOff) {
  EXPECT_EQ(ParseText("socket: {path: /tmp/x/a.sock}\n")->api_socket, "/tmp/x/api.sock");
  EXPECT_EQ(ParseText("socket: {path: /tmp/x/a.sock}\napi: {}\n")->api_socket, "/tmp/x/api.sock");
  EXPECT_EQ(ParseText("api: {socket: /y.sock}\nsocket: {path: /tmp/x/a.sock}\n")->api_socket, "/y.sock");
  EXPECT_EQ(ParseText("api: {socket: off}\n")->api_socket, "");
  EXPECT_EQ(ErrorOf("api: {socket: \"\"}\n"),
            "f.yaml:1: api.socket: expected an absolute path of at most 107 bytes, or off, got \"\"");
  EXPECT_EQ(ErrorOf("api: {socket: relative}\n"),
            "f.yaml:1: api.socket: expected an absolute path of at most 107 bytes, or off, got relative");
}

TEST(YamlConfigTest, ProfilesAreKeptInADirectoryOrNot) {
  EXPECT_EQ(ParseText("profiles: off\n")->profiles, "");
  EXPECT_EQ(ErrorOf("profiles: here\n"),
            "f.yaml:1: profiles: expected an absolute path of at most 3000 bytes, or off, got here");
  EXPECT_EQ(ErrorOf("profiles: /\n"),
            "f.yaml:1: profiles: expected an absolute path of at most 3000 bytes, or off, got /");
  ErrorOf("profiles: [/a]\n");
  ErrorOf("profiles: /" + std::string(3000, 'x') + "\n");
}

TEST(YamlConfigTest, TheTransportIsOneOfThree) {
  EXPECT_EQ(ParseText("")->transport, signals::Transport::kHost);
  EXPECT_EQ(ParseText("transport: auto\n")->transport, signals::Transport::kAuto);
  EXPECT_EQ(ErrorOf("transport: gpu\n"), "f.yaml:1: transport: expected host, ipc or auto, got gpu");
}

TEST(YamlConfigTest, TheExampleIsValidAndSaysTheDefaults) {
  std::string error;
  const auto example = ReadYamlConfig(EXAMPLE_CONFIG, &error);
  ASSERT_TRUE(example) << error;
  const Config defaults;
  EXPECT_EQ(example->arbiter.socket.path, defaults.arbiter.socket.path);
  EXPECT_EQ(example->arbiter.socket.mode, defaults.arbiter.socket.mode);
  EXPECT_EQ(example->arbiter.limits, defaults.arbiter.limits);
  EXPECT_EQ(example->arbiter.live.policy, defaults.arbiter.live.policy);
  EXPECT_EQ(example->arbiter.live.guard, defaults.arbiter.live.guard);
  EXPECT_EQ(example->arbiter.live.gpus, defaults.arbiter.live.gpus);
  EXPECT_EQ(example->arbiter.live.turn.policy.tie_window, defaults.arbiter.live.turn.policy.tie_window);
  EXPECT_EQ(example->arbiter.live.turn.policy.quantum, defaults.arbiter.live.turn.policy.quantum);
  EXPECT_EQ(example->arbiter.live.turn.policy.longest_wait, defaults.arbiter.live.turn.policy.longest_wait);
  EXPECT_EQ(example->arbiter.live.turn.watchdog.floor, defaults.arbiter.live.turn.watchdog.floor);
  EXPECT_EQ(example->arbiter.live.turn.watchdog.factor, defaults.arbiter.live.turn.watchdog.factor);
  EXPECT_EQ(example->arbiter.live.turn.watchdog.offences, defaults.arbiter.live.turn.watchdog.offences);
  EXPECT_EQ(example->profiles, defaults.profiles);
  EXPECT_EQ(example->log_level, defaults.log_level);
}

TEST(YamlConfigTest, AllGpusAndNoMetrics) {
  const auto config = ParseText("gpus: all\nmetrics: {listen: off}\nmode: off\n");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->arbiter.live.gpus.has_value());
  EXPECT_EQ(config->metrics_listen, "");
  EXPECT_EQ(config->arbiter.live.policy, arbiter::Policy::kOff);
}

TEST(YamlConfigTest, ErrorsNameFileLineKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf("gpus: all\nmode: on\n"), "f.yaml:2: mode: expected enforce, observe or off, got on");
  EXPECT_EQ(ErrorOf("watchdog:\n  floor_ms: soon\n"),
            "f.yaml:2: watchdog.floor_ms: expected 1 to 60000, got soon");
  EXPECT_EQ(ErrorOf("watchdog:\n\n  flor_ms: 1\n"),
            "f.yaml:3: watchdog.flor_ms: unknown key; expected one of factor, floor_ms, forgive_s, offences");
  EXPECT_EQ(ErrorOf("mode: off\nmode: off\n"), "f.yaml:2: mode: stands twice");
  EXPECT_EQ(ErrorOf("log_level:\n  - info\n"),
            "f.yaml:2: log_level: expected error, warn, info or debug, got a list");
  EXPECT_EQ(ErrorOf("metrics: 9465\n"), "f.yaml:1: metrics: expected a map of listen, got 9465");
}

TEST(YamlConfigTest, RefusesValuesOutOfRange) {
  for (const char* text : {"socket: {path: relative}",
                           "socket: {path: ''}",
                           "socket: {mode: 8}",
                           "socket: {mode: 0000}",
                           "socket: {group: no-such-group}",
                           "metrics: {listen: 9465}",
                           "metrics: {listen: ':1'}",
                           "gpus: []",
                           "gpus: some",
                           "gpus: [GPU-1]",
                           "gpus: [[all]]",
                           "tie_window_us: 0",
                           "tie_window_us: -1",
                           "tie_window_us: 10001",
                           "watchdog: {floor_ms: 0}",
                           "watchdog: {factor: 1e3}",
                           "watchdog: {offences: 99999999999999999999}",
                           "limits: {gpus: 0}",
                           "trace_file: relative",
                           "trace_file:",
                           "mode:",
                           "mode: {}",
                           "log_level: loud"}) {
    EXPECT_NE(ErrorOf(text), "") << text;
  }
}

TEST(YamlConfigTest, RefusesWhatIsNotAMapOrNotYaml) {
  EXPECT_THAT(ErrorOf("- a\n"),
              ::testing::MatchesRegex("f.yaml:1: the file: expected a map of .*, got a list"));
  EXPECT_THAT(ErrorOf("just words\n"), ::testing::HasSubstr("the file"));
  EXPECT_THAT(ErrorOf("mode: off\na: [\n"), ::testing::HasSubstr("not YAML"));
  EXPECT_THAT(ErrorOf("mode: off\n---\nmode: off\n"),
              ::testing::HasSubstr(": the file: expected one document, got a second one"));
  EXPECT_THAT(ErrorOf("{mode: off} trailing"), ::testing::HasSubstr("f.yaml:1: "));
  EXPECT_NE(ErrorOf("&anchor mode: off {x"), "") << "must end at all";
  EXPECT_THAT(ErrorOf("? [a]\n: b\n"), ::testing::HasSubstr("unknown key"));
}

TEST(YamlConfigTest, SaysWhyAFileCannotBeRead) {
  std::string error;
  EXPECT_FALSE(ReadYamlConfig("/no/such/file.yaml", &error).has_value());
  EXPECT_EQ(error, "/no/such/file.yaml: cannot be read: No such file or directory");
  EXPECT_FALSE(ReadYamlConfig("/", &error).has_value());
}

}  // namespace
}  // namespace crossover::deviceplugin
