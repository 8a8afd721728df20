// Tests `timeline` with a stand-in for kubectl, whose answers show what it was asked for.
#include "cli/cluster/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/cluster/stand_in_kubectl.h"

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kKubectlOfTimeline[] = R"sh(
case "$*" in
  get*) echo '{"items": [
    {"metadata": {"name": "daemon", "namespace": "s"}, "spec": {"nodeName": "n1", "hostPID": true}}]}' ;;
  *" -- crossover timeline -o json --follow") printf '{"event": "hold"}\n{"event": "release"}\n'; exit 3 ;;
  *" -- crossover timeline -o json --seconds 2") echo '{"turns": [{"gang": "a"}]}' ;;
  *" -- crossover timeline --seconds 2") echo 'GPU GPU-1' ;;
  *) printf 'crossover: no such word\ncommand terminated with exit code 2\n' >&2; exit 2 ;;
esac
)sh";

class ClusterTimelineTest : public StandInKubectl {
 protected:
  ClusterTimelineTest() : StandInKubectl(kKubectlOfTimeline) {}

  std::string Timeline(const std::vector<std::string>& words, Format format, int code = 0) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(
        ClusterTimeline(Called(), {.node = "n1", .words = words, .show = {.format = format, .watch_s = {}}}),
        code);
    said_ = ::testing::internal::GetCapturedStderr();
    return ::testing::internal::GetCapturedStdout();
  }

  std::string said_;
};

TEST_F(ClusterTimelineTest, EachFormat) {
  const std::vector<std::string> words = {"--seconds", "2"};
  EXPECT_EQ(Timeline(words, Format::kText), "GPU GPU-1\n");
  EXPECT_EQ(Timeline(words, Format::kWide), "GPU GPU-1\n");
  EXPECT_EQ(nlohmann::json::parse(Timeline(words, Format::kJson)),
            nlohmann::json::parse(R"({"turns": [{"gang": "a"}]})"));
  EXPECT_EQ(Timeline(words, Format::kYaml), "\"turns\":\n  - \"gang\": \"a\"\n");
}

TEST_F(ClusterTimelineTest, TurnsAsTheyComeAreADocumentEach) {
  EXPECT_EQ(Timeline({"--follow"}, Format::kYaml, 3), "\"event\": \"hold\"\n---\n\"event\": \"release\"\n")
      << "its exit code is kubectl's";
}

TEST_F(ClusterTimelineTest, WhatTheProgramSaidLastIsTheError) {
  for (const Format format : {Format::kText, Format::kJson}) {
    EXPECT_EQ(Timeline({"--none"}, format, 1), "");
    EXPECT_EQ(said_, "crossover timeline: crossover: no such word\n");
  }
}

TEST_F(ClusterTimelineTest, WhetherItFollows) {
  EXPECT_TRUE(Follows({.node = "n1", .words = {"--seconds", "2", "--follow"}, .show = {}}));
  EXPECT_FALSE(Follows({.node = "n1", .words = {"--seconds", "2"}, .show = {}}));
}

}  // namespace
}  // namespace crossover::cli
