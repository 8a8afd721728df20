// Tests `top` with a stand-in for kubectl.
#include "cli/cluster/nodes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/cli/cluster/stand_in_kubectl.h"

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;

// Each list of pods adds a line to the file `rounds`. The first list fails.
constexpr char kKubectl[] = R"sh(
if [ "$1" = exec ]; then
  echo '{"gpus": []}'
  exit
fi
echo >> rounds
if [ "$(wc -l < rounds)" -eq 1 ]; then
  echo 'Unable to connect to the server' >&2
  exit 1
fi
echo '{"items": [{"metadata": {"name": "daemon", "namespace": "s"}, "spec": {"nodeName": "n1", "hostPID": true}}]}'
)sh";

class ClusterTopTest : public StandInKubectl {
 protected:
  ClusterTopTest() : StandInKubectl(kKubectl) {}

  int Rounds() const {
    const std::string rounds = Read("rounds");
    return static_cast<int>(std::count(rounds.begin(), rounds.end(), '\n'));
  }
  // Runs `top` while nothing can be written to standard output. Puts what it writes to standard error into
  // `said_`.
  int TopOntoAFullDisk(const ClusterTopOptions& options) {
    std::fflush(stdout);
    const int own = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    ::testing::internal::CaptureStderr();
    const int code = ClusterTop(Called(), options);
    said_ = ::testing::internal::GetCapturedStderr();
    dup2(own, STDOUT_FILENO);
    std::clearerr(stdout);
    __fpurge(stdout);
    close(own);
    close(full);
    return code;
  }

  std::string said_;
};

TEST_F(ClusterTopTest, ARoundThatFailsEndsNoWatching) {
  EXPECT_EQ(TopOntoAFullDisk({.node = "", .show = {.format = Format::kYaml, .watch_s = 0.1}}), 1);
  EXPECT_EQ(Rounds(), 2) << "the second had an answer, which could not be written";
  EXPECT_THAT(said_, HasSubstr("crossover top: Unable to connect to the server"));
}

TEST_F(ClusterTopTest, WithoutWatchingItFails) {
  EXPECT_EQ(TopOntoAFullDisk({.node = "", .show = {.format = Format::kText, .watch_s = {}}}), 1);
  EXPECT_EQ(Rounds(), 1);
  EXPECT_THAT(said_, HasSubstr("Unable to connect"));
}

TEST_F(ClusterTopTest, EachNodeIsNamedBesideWhatItsDaemonSays) {
  std::ofstream(File("rounds")) << "\n";  // the round that fails is over
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(ClusterTop(Called(), {.node = "n1", .show = {.format = Format::kJson, .watch_s = {}}}), 0);
  EXPECT_EQ(nlohmann::json::parse(::testing::internal::GetCapturedStdout()),
            nlohmann::json::parse(R"({"nodes": [{"node": "n1", "top": {"gpus": []}}]})"));
}

}  // namespace
}  // namespace crossover::cli
