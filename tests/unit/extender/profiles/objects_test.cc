#include "extender/profiles/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

namespace crossover::extender {
namespace {

using nlohmann::json;

ProfileRecord Record() {
  ProfileRecord record{.name = "n", .hinted = false, .runs = {}, .meetings = {}};
  record.runs.push_back({.gang = "team/a",
                         .began_s = 1.6e9,
                         .at_s = 1.7e9,
                         .gpus = 4,
                         .iterations = 100,
                         .estimated = true,
                         .disturbed = true,
                         .shared = true,
                         .compute_s = 0.02,
                         .exposed_s = 0.01,
                         .jitter = 0.1,
                         .peak_memory = 12345});
  record.meetings.push_back({"other", "l", {{"team/a", "other/b", 1.2, 1.7e9}}});
  return record;
}

TEST(ObjectsTest, WhatIsWrittenIsReadAgain) {
  const ProfileId id{"team", "Key of mine"};
  json object = ObjectBody(id, "n");
  object["status"] = StatusBody(id, Record(), {})["status"];
  const auto read = ParseRecord(object);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->first, id);
  EXPECT_EQ(StatusBody(id, read->second, {}), StatusBody(id, Record(), {}));
  EXPECT_EQ(read->second.runs[0].at_s, 1.7e9);
  EXPECT_TRUE(read->second.runs[0].disturbed);
  EXPECT_TRUE(read->second.runs[0].shared);
}

TEST(ObjectsTest, FiguresThatOthersReadByTheirNames) {
  const json status = StatusBody({"team", "k"}, Record(), {})["status"];
  EXPECT_EQ(status["computeSeconds"], 0.02);
  EXPECT_EQ(status["exposedSeconds"], 0.01);
  EXPECT_EQ(status["peakMemoryBytes"], 12345);
  EXPECT_EQ(status["gpus"], 4);
  EXPECT_EQ(status["lastSeen"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(status["meetings"][0]["gain"], 1.2);
  EXPECT_EQ(status["meetings"][0]["key"], "l");
}

TEST(ObjectsTest, NamesThatTheApiServerTakes) {
  const std::regex allowed("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  for (const std::string key : {"bert", "Bert/Large v2", "---", "\xc3\xa4", ".x.", ""}) {
    EXPECT_TRUE(std::regex_match(ProfileNameOf(key), allowed)) << ProfileNameOf(key);
  }
  EXPECT_LE(ProfileNameOf(std::string(253, 'x')).size(), 63u);
  EXPECT_NE(ProfileNameOf("Bert"), ProfileNameOf("bert"));
}

TEST(ObjectsTest, AUsersOwn) {
  const auto read = ParseRecord(
      json::parse(R"({"metadata": {"namespace": "team", "name": "mine"}, "spec": {"peakMemoryBytes": 5}})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->first, ProfileId("team", "mine"));
  EXPECT_TRUE(read->second.hinted);
}

TEST(ObjectsTest, OddObjects) {
  for (const char* text : {"null", "7", "{}", R"({"metadata": {"name": "x"}})", R"({"metadata": []})"})
    EXPECT_FALSE(ParseRecord(json::parse(text))) << text;
  const auto odd = ParseRecord(json::parse(R"({"metadata": {"namespace": "a", "name": "b"}, "spec": 3,
      "status": {"runs": [1, {}, {"gang": "g", "gpus": -4, "computeSeconds": "x"}], "meetings": [{"key": 3}, null]}})"));
  ASSERT_TRUE(odd);
  ASSERT_EQ(odd->second.runs.size(), 1u);
  EXPECT_EQ(odd->second.runs[0].gpus, 0);
  EXPECT_TRUE(odd->second.meetings.empty());
}

}  // namespace
}  // namespace crossover::extender
