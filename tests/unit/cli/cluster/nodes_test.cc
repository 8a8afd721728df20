// `top` asks a stand-in for kubectl.
#include "cli/cluster/nodes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// Each list of pods is a line in the file `rounds`; the first one fails.
constexpr char kKubectl[] = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
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

class ClusterTopTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path().string() + "/kubectl-XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ + "/kubectl") << kKubectl;
    fs::permissions(folder_ + "/kubectl", fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  int Rounds() const {
    std::ifstream file(folder_ + "/rounds");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  // Nothing can be written to its standard output. What it says on the other one is `said_`.
  int TopOntoAFullDisk(const ClusterTopOptions& options) {
    std::fflush(stdout);
    const int own = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    ::testing::internal::CaptureStderr();
    const int code = ClusterTop(Kubectl({}, folder_ + "/kubectl"), options);
    said_ = ::testing::internal::GetCapturedStderr();
    dup2(own, STDOUT_FILENO);
    std::clearerr(stdout);
    __fpurge(stdout);
    close(own);
    close(full);
    return code;
  }

  std::string folder_, said_;
};

TEST_F(ClusterTopTest, ARoundThatFailsEndsNoWatching) {
  EXPECT_EQ(TopOntoAFullDisk({.node = "", .format = Format::kYaml, .watch_s = 0.1}), 1);
  EXPECT_EQ(Rounds(), 2) << "the second had an answer, which could not be written";
  EXPECT_THAT(said_, HasSubstr("crossover top: Unable to connect to the server"));
}

TEST_F(ClusterTopTest, WithoutWatchingItFails) {
  EXPECT_EQ(TopOntoAFullDisk({.node = "", .format = Format::kText, .watch_s = {}}), 1);
  EXPECT_EQ(Rounds(), 1);
  EXPECT_THAT(said_, HasSubstr("Unable to connect"));
}

TEST_F(ClusterTopTest, EachNodeIsNamedBesideWhatItsDaemonSays) {
  std::ofstream(folder_ + "/rounds") << "\n";  // the failing one is over
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(
      ClusterTop(Kubectl({}, folder_ + "/kubectl"), {.node = "n1", .format = Format::kJson, .watch_s = {}}),
      0);
  EXPECT_EQ(nlohmann::json::parse(::testing::internal::GetCapturedStdout()),
            nlohmann::json::parse(R"({"nodes": [{"node": "n1", "top": {"gpus": []}}]})"));
}

}  // namespace
}  // namespace crossover::cli
