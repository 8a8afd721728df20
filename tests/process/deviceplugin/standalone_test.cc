// Tests crossover-deviceplugin and `crossover run` as a workstation runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "tests/http_get.h"
#include "tests/process/deviceplugin/client.h"
#include "tests/process/deviceplugin/processes.h"

namespace crossover::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class StandaloneTest : public ::testing::Test {
 protected:
  void WriteConfig(const std::string& mode) const {
    std::ofstream(config()) << "socket: {path: " << socket() << "}\nmetrics: {listen: 127.0.0.1:0}\n"
                            << "mode: " << mode << "\nprofiles: off\n";
  }
  void StartDaemon() {
    WriteConfig("enforce");
    daemon_ = std::make_unique<Program>(
        std::vector<std::string>{DEVICEPLUGIN_PROGRAM, "--standalone", "--config", config()});
    ASSERT_TRUE(daemon_->AwaitLine("metrics on port ")) << daemon_->seen();
  }
  std::string Scrape() const { return Get("/metrics"); }
  // Returns the daemon's whole answer.
  std::string Get(const std::string& path) const {
    const std::string& seen = daemon_->seen();
    const std::string marker = "metrics on port ";
    const int port = std::stoi(seen.substr(seen.find(marker) + marker.size()));
    return test::HttpGet(port, path);
  }
  // Scrapes until `text` is in the metrics: events reach them a moment later.
  void AwaitMetric(const std::string& text) const {
    while (Scrape().find(text) == std::string::npos) usleep(20'000);
  }
  void AwaitMatch(const std::string& expression) const {
    while (!std::regex_search(Scrape(), std::regex(expression))) usleep(20'000);
  }
  std::string socket() const { return dir_.File("a.sock"); }
  std::string config() const { return dir_.File("config.yaml"); }

  TempDir dir_;
  std::unique_ptr<Program> daemon_;
};

TEST_F(StandaloneTest, TheLiveSwitchIsHeededAndABadFileIsNot) {
  StartDaemon();
  Client a(socket()), b(socket());
  ASSERT_TRUE(a.Join("a"));
  ASSERT_TRUE(b.Join("b"));
  a.SetPhase(CROSSOVER_PHASE_LOCKED);
  b.SetPhase(CROSSOVER_PHASE_LOCKED);
  a.AwaitMode(CROSSOVER_MODE_GATE);
  WriteConfig("nonsense");
  daemon_->Signal(SIGHUP);
  ASSERT_TRUE(daemon_->AwaitLine("mode: expected enforce, observe or off, got nonsense"));
  EXPECT_EQ(a.self().mode, CROSSOVER_MODE_GATE);
  WriteConfig("off");
  daemon_->Signal(SIGHUP);
  a.AwaitMode(CROSSOVER_MODE_OFF);
  b.AwaitMode(CROSSOVER_MODE_OFF);
  WriteConfig("enforce");
  daemon_->Signal(SIGHUP);
  a.AwaitMode(CROSSOVER_MODE_GATE);
  daemon_->Signal(SIGTERM);
  a.AwaitEnd();
  EXPECT_EQ(daemon_->Wait(), 0) << daemon_->seen();
}

TEST_F(StandaloneTest, MetricsFollowTheTurns) {
  StartDaemon();
  EXPECT_THAT(Scrape(), HasSubstr("crossover_arbiter_cpu_seconds_total"));
  {
    Client a(socket()), b(socket());
    ASSERT_TRUE(a.Join("a"));
    ASSERT_TRUE(b.Join("b"));
    a.SetPhase(CROSSOVER_PHASE_TAKING);
    b.SetPhase(CROSSOVER_PHASE_TAKING);
    b.AwaitMode(CROSSOVER_MODE_GATE);
    // The arbiter counts a turn when it sees it held: a turn that ends between two of its polls is not
    // counted. So each turn lasts until it is counted. The count is at least one: on a busy machine a turn
    // may be taken back and given again.
    a.Acquire(1);
    AwaitMatch("crossover_turns_total\\{gpu_uuid=\"" + std::string(kGpu) + "\",gang=\"a\"\\} [1-9]");
    a.Release(1);
    b.Acquire(1);
    AwaitMatch("crossover_turns_total\\{gpu_uuid=\"" + std::string(kGpu) + "\",gang=\"b\"\\} [1-9]");
    AwaitMetric("mode=\"gate\",phase=\"taking\",transport=\"host_gates\"} 2");
  }
  AwaitMetric("crossover_handovers_total");
  const std::string turns = "crossover_turns_total{gpu_uuid=\"" + std::string(kGpu) + "\",gang=\"a\"}";
  while (Scrape().find(turns) != std::string::npos) usleep(20'000);
  AwaitMetric("crossover_charged_gpu_seconds_total{gpu_uuid=\"" + std::string(kGpu) + "\",gang=\"a\"}");
}

TEST_F(StandaloneTest, AClientThatGoesOverToAnotherTransportIsCounted) {
  StartDaemon();
  Client a(socket());
  ASSERT_TRUE(a.Join("a"));
  AwaitMetric("transport=\"host_gates\"} 1");
  crossover_profile profile{};
  profile.header = {CROSSOVER_PROFILE, sizeof profile, CROSSOVER_PROTOCOL_VERSION, 0};
  for (const std::uint32_t transport : {CROSSOVER_TRANSPORT_HOST_GATES, CROSSOVER_TRANSPORT_RELAYED_GATES,
                                        CROSSOVER_TRANSPORT_RELAYED_GATES}) {
    profile.transport = transport;
    ASSERT_TRUE(a.SendBytes(&profile, sizeof profile));
  }
  AwaitMetric("transport=\"relayed_gates\"} 1");
  EXPECT_TRUE(daemon_->AwaitLine("takes turns by relayed_gates now, not by host_gates"));
  EXPECT_THAT(Scrape(), ContainsRegex("crossover_transport_changes_total\\{[^}]*\\} 1"));
}

TEST_F(StandaloneTest, ProbesAreAnswered) {
  StartDaemon();
  EXPECT_THAT(Get("/healthz"), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THAT(Get("/readyz"), HasSubstr("\r\n\r\nok\n"));
}

TEST_F(StandaloneTest, ErrorsOfTheCommandLineAndTheFileEndWithTwo) {
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), DEVICEPLUGIN_PROGRAM);
    Program program(arguments);
    EXPECT_EQ(program.Wait(), 2);
    return program.seen();
  };
  EXPECT_THAT(run({"--config", "/no/such.yaml"}), HasSubstr("/no/such.yaml: cannot be read"));
  EXPECT_THAT(run({"--standalone", "--config", "/no/such.yaml"}), HasSubstr("/no/such.yaml: cannot be read"));
  EXPECT_THAT(run({"--standalone"}), HasSubstr("--config is required"));
  WriteConfig("nonsense");
  EXPECT_THAT(run({"--standalone", "--config", config()}),
              HasSubstr("config.yaml:3: mode: expected enforce, observe or off, got nonsense"));
  EXPECT_THAT(run({"--config", config()}),
              HasSubstr("config.yaml:3: mode: expected enforce, observe or off, got nonsense"));
  std::ofstream(config()) << "socket: {path: " << socket() << "}\nmetrics: {listen: '203.0.113.1:80'}\n";
  EXPECT_THAT(run({"--standalone", "--config", config()}), HasSubstr("metrics.listen: 203.0.113.1:80"));
}

class CliTest : public StandaloneTest {
 protected:
  // Runs `crossover run` with a script that writes its environment to a file. Returns that file's text.
  std::string RunAndReadEnvironment(std::string* seen) {
    const std::string out = dir_.File("environment");
    Program program({CROSSOVER_PROGRAM, "run", "--gang", "job", "--size", "2", "--socket", socket(),
                     "--library", LIBRARY, "--", "/bin/sh", "-c", "env > \"$0\"; exit 7", out});
    EXPECT_EQ(program.Wait(), 7) << program.seen();
    *seen = program.seen();
    return {std::istreambuf_iterator<char>(std::ifstream(out).rdbuf()), {}};
  }
};

TEST_F(CliTest, BecomesTheCommandWithTheEnvironmentOfARank) {
  StartDaemon();
  std::string seen;
  const std::string environment = RunAndReadEnvironment(&seen);
  EXPECT_THAT(environment, HasSubstr("CROSSOVER_GANG=job\n"));
  EXPECT_THAT(environment, HasSubstr("CROSSOVER_GANG_SIZE=2\n"));
  EXPECT_THAT(environment, HasSubstr("CROSSOVER_SOCKET=" + socket() + "\n"));
  EXPECT_THAT(environment, HasSubstr("LD_PRELOAD=" LIBRARY));
  EXPECT_THAT(seen, Not(HasSubstr("no daemon listens")));
}

TEST_F(CliTest, RunsWithoutADaemonAndSaysSo) {
  std::string seen;
  EXPECT_THAT(RunAndReadEnvironment(&seen), HasSubstr("CROSSOVER_GANG=job\n"));
  EXPECT_THAT(seen, HasSubstr("crossover run: no daemon listens on " + socket()));
}

TEST_F(CliTest, ErrorsEndWithTwoAndMissingCommandsAsInAShell) {
  const auto run = [](std::vector<std::string> arguments, int expected) {
    arguments.insert(arguments.begin(), CROSSOVER_PROGRAM);
    Program program(arguments);
    EXPECT_EQ(program.Wait(), expected);
    return program.seen();
  };
  EXPECT_THAT(run({}, 2), HasSubstr("subcommand"));
  EXPECT_THAT(run({"run", "--gang", "a", "--", "true"}, 2), HasSubstr("--size is required"));
  EXPECT_THAT(run({"run", "--gang", "a", "--size", "many", "--", "true"}, 2),
              HasSubstr("--size: expected a number of ranks from 1 to 1000000, got many"));
  EXPECT_THAT(run({"run", "--gang", "a", "--size", "2", "--library", LIBRARY, "--", "/no/such/program"}, 127),
              HasSubstr("/no/such/program: No such file"));
  EXPECT_THAT(run({"run", "--gang", "a", "--size", "2", "--library", LIBRARY, "--", "/"}, 126),
              HasSubstr("/: "));
  run({"--version"}, 0);
  run({"run", "--help"}, 0);
}

}  // namespace
}  // namespace crossover::testing
