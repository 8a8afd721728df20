#include "extender/profiles/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/unit/common/api/golden_profiles.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

ProfileRecord Record() {
  ProfileRecord record{.name = "n", .has_hints = false, .runs = {}, .meetings = {}};
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
                         .peak_memory = 12345,
                         .median_s = 0.02,
                         .slowest = {.pod = "a-1", .node = "n1", .compute_s = 0.03, .since_s = 1.65e9},
                         .input = {.pod = "a-2", .node = "n2", .seconds = 0.005},
                         .uplink_s = 0.008,
                         .least_uplink_s = 0.002});
  record.meetings.push_back({"other", "l", {{"team/a", "other/b", 1.2, 1.7e9}}});
  record.communication = {
      .pods = 3,
      .runs = 2,
      .gang = "team/a",
      .began_s = 1.6e9,
      .groups = {{NcclFunction::kBroadcast, {2, 0, 1}, 4711}, {NcclFunction::kSend, {0, 1}, kMostCallBytes}},
      .compute_s = {0.02, 0.03, 0.025}};
  return record;
}

std::pair<ProfileId, ProfileRecord> Read(const json& object) {
  return RecordOf(api::ParseJobProfile(object).value());
}

TEST(ObjectsTest, WhatIsWrittenIsReadAgain) {
  const ProfileId id{"team", "Key of mine"};
  json object = ObjectBody(id, "n");
  object["status"] = StatusBody(id, Record(), {})["status"];
  const auto read = Read(object);
  EXPECT_EQ(read.first, id);
  EXPECT_EQ(StatusBody(id, read.second, {}), StatusBody(id, Record(), {}));
  EXPECT_EQ(read.second.runs, Record().runs);
  EXPECT_EQ(read.second.meetings.at(0).gains, Record().meetings.at(0).gains);
  EXPECT_EQ(read.second.communication, Record().communication);
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
  EXPECT_EQ(status["communication"], json::parse(R"({"pods": 3, "runs": 2, "gang": "team/a",
      "beganAt": "2020-09-13T12:26:40Z",
      "groups": [{"function": "Broadcast", "members": [2, 0, 1], "bytes": 4711},
                 {"function": "Send", "members": [0, 1], "bytes": 1000000000000000}],
      "computeSeconds": [0.02, 0.03, 0.025]})"));
  ProfileRecord without = Record();
  without.communication = {};
  EXPECT_FALSE(StatusBody({"team", "k"}, without, {})["status"].contains("communication"));
}

TEST(ObjectsTest, NamesThatTheApiServerTakes) {
  const std::regex allowed("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  for (const std::string key : {"bert", "Bert/Large v2", "---", "\xc3\xa4", ".x.", ""}) {
    EXPECT_TRUE(std::regex_match(ProfileNameOf(key), allowed)) << ProfileNameOf(key);
  }
  EXPECT_LE(ProfileNameOf(std::string(253, 'x')).size(), 63u);
  EXPECT_NE(ProfileNameOf("Bert"), ProfileNameOf("bert"));
}

TEST(ObjectsTest, TheRecordOfEachGoldenProfile) {
  for (const api::GoldenProfile& golden : api::kGoldenProfiles) {
    const auto [id, record] = Read(json::parse(golden.object));
    EXPECT_EQ(id, ProfileId("team", golden.key)) << golden.object;
    EXPECT_EQ(record.has_hints, golden.has_hints) << golden.object;
    EXPECT_EQ(record.runs.size(), golden.runs) << golden.object;
    EXPECT_EQ(record.meetings.size(), golden.met) << golden.object;
  }
}

TEST(ObjectsTest, TheRecordOfEachBrokenTwin) {
  for (const api::BrokenProfile& twin : api::kBrokenProfiles) {
    if (!twin.is_profile) continue;
    const auto [id, record] = Read(api::Broken(twin));
    EXPECT_EQ(id, ProfileId("team", twin.key)) << twin.patch;
    EXPECT_EQ(record.name, "gpt-3a1f") << twin.patch;
    EXPECT_EQ(record.runs.size(), twin.runs) << twin.patch;
    EXPECT_EQ(record.meetings.size(), twin.met) << twin.patch;
  }
}

TEST(ObjectsTest, ARecordHasAtMostAsManyMeetingsAsTheDefinitionAllows) {
  json object = json::parse(api::kGoldenMeasured);
  json& meetings = object["status"]["meetings"];
  for (std::size_t i = 0; i < kMostMeetings; ++i) meetings.push_back(meetings[0]);
  EXPECT_EQ(Read(object).second.meetings.size(), kMostMeetings);
}

TEST(ObjectsTest, OddNumbersOfARun) {
  const auto odd = Read(json::parse(R"({"metadata": {"namespace": "a", "name": "b"},
      "status": {"runs": [{"gang": "g", "gpus": -4, "iterations": 1e99, "computeSeconds": "x", "lastSeen": "soon"}]}})"));
  ASSERT_EQ(odd.second.runs.size(), 1u);
  EXPECT_EQ(odd.second.runs[0], ProfileRun{.gang = "g"});
}

}  // namespace
}  // namespace crossover::extender
