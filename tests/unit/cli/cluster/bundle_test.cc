// Tests the doctor's bundle with a stand-in for kubectl.
#include "cli/cluster/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cluster/doctor.h"
#include "tests/unit/cli/cluster/sound_cluster.h"
#include "tests/unit/cli/cluster/stand_in_kubectl.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(QuestionsTest, LogsComeFirstAndNoTwoGoIntoTheSameFile) {
  ClusterFacts facts = SoundCluster();
  json other = Program("extender", "extender-x", "n1");
  other["metadata"]["namespace"] = "team";
  facts.lists["programs"].push_back(other);
  const std::vector<json> questions = QuestionsOf(facts);
  std::set<std::string> files;
  for (const json& question : questions) files.insert(question["file"].get<std::string>());
  EXPECT_EQ(files.size(), questions.size());
  EXPECT_TRUE(files.contains("team.extender-x.log"));
  EXPECT_TRUE(files.contains("crossover-system.extender-x.log"));
  EXPECT_TRUE(files.contains("crossover-system.extender-x_scheduler.log"));
  const auto is_log = [](const json& question) { return question["words"][0] == "logs"; };
  EXPECT_TRUE(std::is_partitioned(questions.begin(), questions.end(), is_log));
  EXPECT_EQ(std::count_if(questions.begin(), questions.end(), is_log), 10) << "extenders have two programs";
  EXPECT_EQ(questions.back(), json({{"file", "crossover-system.daemon-2.doctor.json"},
                                    {"words",
                                     {"exec", "--namespace", "crossover-system", "daemon-2", "--container",
                                      "deviceplugin", "--", "crossover", "doctor", "-o", "json"}}}));
}

TEST(QuestionsTest, WhatWasStartedAgainIsAskedForItsLogBeforeThat) {
  ClusterFacts facts = SoundCluster();
  facts.lists["programs"][0]["status"]["containerStatuses"] =
      json::parse(R"([{"name": "deviceplugin", "restartCount": 1}])");
  facts.lists["programs"][4]["status"]["containerStatuses"] =
      json::parse(R"([{"name": "extender", "restartCount": 0}, {"name": "scheduler", "restartCount": 2}])");
  std::map<std::string, json> previous;  // words by file
  for (const json& question : QuestionsOf(facts)) {
    const json& words = question["words"];
    if (words.back() == "--previous") previous[question["file"].get<std::string>()] = words;
  }
  ASSERT_EQ(previous.size(), 2u);
  EXPECT_TRUE(previous.contains("crossover-system.daemon-1_previous.log"));
  EXPECT_EQ(previous["crossover-system.extender-x_scheduler_previous.log"],
            json({"logs", "--namespace", "crossover-system", "extender-x", "--container", "scheduler",
                  "--tail", "2000", "--previous"}));
}

// Programs answer once two of them were asked, or after five seconds. The file `before` lists what was in
// the bundle when the first was asked.
constexpr char kKubectlOfBundle[] = R"sh(
case "$*" in
  "get pods"*name=crossover*) cat programs; exit ;;
  get*) echo '{"items": []}'; exit ;;
esac
mkdir asking 2>/dev/null && ls bundle > before
touch "asking/$$"
for i in 1 2 3 4 5 6 7 8 9 10; do
  [ "$(ls asking | wc -l)" -ge 2 ] && break
  sleep 0.5
done
[ "$(ls asking | wc -l)" -ge 2 ] || echo alone
case "$*" in
  logs*) echo "log of $4" ;;
  *"crossover doctor"*) echo '{"verdict": "fail"}'; exit 1 ;;
  *) printf 'crossover top: no daemon\ncommand terminated with exit code 1\n' >&2; exit 1 ;;
esac
)sh";

class BundleTest : public StandInKubectl {
 protected:
  BundleTest() : StandInKubectl(kKubectlOfBundle) {
    std::ofstream(File("programs")) << json({{"items", SoundCluster().lists["programs"]}});
  }

  int Doctor() {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = ClusterDoctor(Called(), {.show = {}, .bundle = File("bundle")});
    said_ = ::testing::internal::GetCapturedStderr();
    ::testing::internal::GetCapturedStdout();
    return code;
  }

  std::string said_;
};

TEST_F(BundleTest, ManyAreAskedAtATimeWhenTheObjectsAreThere) {
  EXPECT_EQ(Doctor(), 1) << "no definitions are there";
  EXPECT_THAT(said_, StartsWith("written to "));
  EXPECT_EQ(Read("bundle/crossover-system.daemon-1.log"), "log of daemon-1\n") << "asked beside others";
  EXPECT_EQ(Read("bundle/crossover-system.mps-2.log"), "log of mps-2\n");
  for (const char* file : {"report.json", "nodes.json", "programs.json", "quotas.json"})
    EXPECT_THAT(Read("before"), HasSubstr(file));
}

TEST_F(BundleTest, WhatAProgramSaysCountsHoweverItEnds) {
  Doctor();
  EXPECT_EQ(Read("bundle/crossover-system.daemon-2.doctor.json"), "{\"verdict\": \"fail\"}\n");
  EXPECT_EQ(Read("bundle/crossover-system.daemon-2.top.json"), "crossover top: no daemon\n");
}

TEST_F(BundleTest, AFolderThatIsThereIsLeftAlone) {
  std::filesystem::create_directory(File("bundle"));
  EXPECT_EQ(Doctor(), 1);
  EXPECT_THAT(said_, HasSubstr("crossover doctor: --bundle: "));
  EXPECT_TRUE(std::filesystem::is_empty(File("bundle")));
}

}  // namespace
}  // namespace crossover::cli
