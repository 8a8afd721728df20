#include "common/api/job_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/common/api/golden_profiles.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(ParseJobProfileTest, EachGoldenProfile) {
  for (const GoldenProfile& golden : kGoldenProfiles) {
    const auto profile = ParseJobProfile(json::parse(golden.object));
    ASSERT_TRUE(profile) << golden.object;
    EXPECT_EQ(profile->key, golden.key) << golden.object;
    EXPECT_EQ(profile->hinted, golden.hinted) << golden.object;
    EXPECT_EQ(profile->has_hints, golden.has_hints) << golden.object;
    EXPECT_EQ(profile->compute_s, golden.compute_s) << golden.object;
    EXPECT_EQ(profile->peak_memory, golden.peak_memory) << golden.object;
    EXPECT_EQ(profile->meetings.size(), golden.meetings) << golden.object;
    EXPECT_EQ(profile->runs.size(), golden.runs) << golden.object;
  }
}

TEST(ParseJobProfileTest, EachBrokenTwin) {
  for (const BrokenProfile& twin : kBrokenProfiles) {
    const auto profile = ParseJobProfile(Broken(twin));
    ASSERT_EQ(profile.has_value(), twin.is_profile) << twin.patch;
    if (!profile) continue;
    EXPECT_EQ(profile->key, twin.key) << twin.patch;
    EXPECT_EQ(profile->compute_s, twin.compute_s) << twin.patch;
    EXPECT_EQ(profile->runs.size(), twin.runs) << twin.patch;
  }
}

TEST(ParseJobProfileTest, AtMostAsManyRunsAndGainsAsTheDefinitionAllows) {
  json object = json::parse(kGoldenMeasured);
  json& runs = object["status"]["runs"];
  for (std::size_t i = 0; i < kMostRuns; ++i) runs.push_back(runs[0]);
  json& gains = object["status"]["meetings"][0]["gains"];
  for (std::size_t i = 0; i < kMostGains; ++i) gains.push_back(gains[0]);
  const auto profile = ParseJobProfile(object);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->runs.size(), kMostRuns);
  EXPECT_EQ(profile->meetings.at(0).gains.size(), kMostGains);
}

TEST(ParseJobProfileTest, MeasuredBeforeHinted) {
  json object = json::parse(R"({"metadata":{"namespace":"ns","name":"p"},
    "spec":{"key":"bert","computeSeconds":0.5,"exposedSeconds":0.25,"peakMemoryBytes":100},
    "status":{"meetings":[{"namespace":"ns","key":"gpt","gain":1.5},{"key":"odd","gain":-1}]}})");
  const auto hinted = ParseJobProfile(object);
  ASSERT_TRUE(hinted);
  EXPECT_TRUE(hinted->hinted);
  EXPECT_EQ(hinted->key, "bert");
  EXPECT_EQ(hinted->compute_s, 0.5);
  EXPECT_EQ(hinted->exposed_s, 0.25);
  EXPECT_EQ(hinted->peak_memory, 100u);
  EXPECT_THAT(hinted->meetings,
              ElementsAre(JobProfile::Meeting{.name_space = "ns", .key = "gpt", .gain = 1.5}));
  object["status"].update(json::parse(
      R"({"computeSeconds":0.75,"exposedSeconds":0,"jitter":0.1,"peakMemoryBytes":200,"gpus":8})"));
  const auto measured = ParseJobProfile(object);
  EXPECT_FALSE(measured->hinted);
  EXPECT_EQ(measured->compute_s, 0.75);
  EXPECT_EQ(measured->exposed_s, 0);
  EXPECT_EQ(measured->jitter, 0.1);
  EXPECT_EQ(measured->peak_memory, 200u);
  EXPECT_EQ(measured->gpus, 8);
  object.erase("spec");
  EXPECT_EQ(ParseJobProfile(object)->key, "p");
  object["metadata"].erase("namespace");
  EXPECT_FALSE(ParseJobProfile(object));
}

// Another run may have waited longer, and the order of runs says nothing.
TEST(JobProfileTest, TheWaitForInputIsThatOfTheNewestRun) {
  json object = {{"metadata", {{"name", "a"}, {"namespace", "team"}}}};
  const auto run = [](const char* seen, double seconds) -> json {
    return {{"gang", "team/g"},
            {"lastSeen", seen},
            {"inputWait", {{"pod", "p"}, {"node", "n"}, {"seconds", seconds}}}};
  };
  EXPECT_EQ(ParseJobProfile(object)->input_s, 0);
  object["status"]["runs"] = {run("2026-01-01T00:00:00Z", 3), run("2026-01-03T00:00:00Z", 1),
                              run("2026-01-02T00:00:00Z", 2)};
  EXPECT_EQ(ParseJobProfile(object)->input_s, 1);
}

}  // namespace
}  // namespace crossover::api
