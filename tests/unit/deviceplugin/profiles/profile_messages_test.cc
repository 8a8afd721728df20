#include "deviceplugin/profiles/profile_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/deviceplugin/profiles/sample.h"

namespace crossover::deviceplugin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::StrEq;

constexpr Clocks kNow = {.monotonic = 5'000'000'000, .wall = 1'800'000'000'000'000'000};

std::string ErrorOf(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ParseProfile(text, "/p/f.json", kNow, &error)) << text;
  return error;
}

TEST(ProfileMessagesTest, WhatIsWrittenIsRead) {
  for (const turn::Time at : {turn::Time{4'000'000'000}, turn::Time{-7'200'000'000'000}}) {
    std::string error;
    EXPECT_EQ(ParseProfile(ProfileText(Sample("a/b", at), kNow), "f", kNow, &error), Sample("a/b", at))
        << error;
  }
}

TEST(ProfileMessagesTest, FiguresThatAreNotKnownAreLeftOut) {
  JobProfile profile;
  profile.job.gang = "a";
  profile.peak_memory = {7, 0, MeasurementSource::kNvml};
  std::string error;
  EXPECT_EQ(ParseProfile(ProfileText(profile, kNow), "f", kNow, &error), profile) << error;
}

TEST(ProfileMessagesTest, WhetherItWasDisturbedIsAMomentOrNothing) {
  JobProfile profile;
  profile.job.gang = "a";
  std::string error;
  EXPECT_FALSE(ParseProfile(ProfileText(profile, kNow), "f", kNow, &error)->disturbed);
  profile.disturbed = 4'000'000'000;
  EXPECT_EQ(ParseProfile(ProfileText(profile, kNow), "f", kNow, &error)->disturbed, 4'000'000'000);
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "disturbed_at_s": -1})"),
            "/p/f.json: disturbed_at_s: expected 0 to 7000000000, got -1");
}

TEST(ProfileMessagesTest, KeysOfALaterVersionAreSkipped) {
  JobProfile profile;
  profile.job.gang = "a";
  std::string error;
  EXPECT_EQ(ParseProfile(R"({"gang": "a", "later": {"value": 3}, "runs": []})", "f", kNow, &error), profile)
      << error;
  EXPECT_THAT(ErrorOf(R"({"gang": "a", "later": 3, "uid": "x"})"), HasSubstr("x")) << "the control";
}

TEST(ProfileMessagesTest, AgesGoOnAfterARestart) {
  const std::string text = ProfileText(Sample("a", 4'000'000'000), kNow);  // a second ago
  const Clocks after_a_boot = {.monotonic = 1'000'000'000, .wall = kNow.wall + 60'000'000'000};
  std::string error;
  EXPECT_EQ(ParseProfile(text, "f", after_a_boot, &error)->newest(), -60'000'000'000);
  const Clocks clock_set_back = {.monotonic = 1'000'000'000, .wall = kNow.wall - 60'000'000'000};
  EXPECT_EQ(ParseProfile(text, "f", clock_set_back, &error)->newest(), 1'000'000'000) << "no age is negative";
}

TEST(ProfileMessagesTest, ErrorsNameFileKeyValueAndWhatIsAllowed) {
  const std::string figure = R"(, "source": "turns", "learned_at_s": 1})";
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "jitter": {"value": -3)" + figure + "}"),
            "/p/f.json: jitter.value: expected 0 to 1000, got -3");
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "jitter": {"value": "NaN")" + figure + "}"),
            "/p/f.json: jitter.value: expected 0 to 1000, got nan");
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "peak_memory_bytes": {"value": 3)" + figure + "}"),
            "/p/f.json: peak_memory_bytes.source: expected nvml, refused, got turns");
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "step_alone_ms": {"value": 3)" + figure + "}"),
            "/p/f.json: step_alone_ms.source: expected measured, remembered, estimated, got turns");
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "compute_ms": {"value": 3)" + figure + "}"),
            "/p/f.json: away_ms: expected a figure, where the other one is, got nothing");
  EXPECT_EQ(ErrorOf(R"({"gang": "a", "jitter": {"value": 0, "source": "turns", "learned_at_s": -1}})"),
            "/p/f.json: jitter.learned_at_s: expected 0 to 7000000000, got -1");
  EXPECT_EQ(ErrorOf("{}"),
            "/p/f.json: gang: expected 1 to 127 printable ASCII characters without spaces, got \"\"");
  EXPECT_EQ(ErrorOf(R"({"gang": "a\nb"})"),
            "/p/f.json: gang: expected 1 to 127 printable ASCII characters without spaces, got a?b");
  EXPECT_THAT(ErrorOf(R"({"gang": "a", "compute_ms": 3})"), StartsWith("/p/f.json: "));
  EXPECT_THAT(ErrorOf(R"({"gang": "a", "uid": -1})"), HasSubstr("-1"));
  for (const char* text : {"", "{", "[]", "null", "\xff\xfe", "{\"gang\": \"a\"} x"}) {
    EXPECT_THAT(ErrorOf(text), StartsWith("/p/f.json: ")) << text;
  }
  EXPECT_THAT(ErrorOf(std::string(100'000, ' ')),
              StrEq("/p/f.json: expected at most 65536 bytes, got 100000"));
}

TEST(ProfileFileNameTest, IsSafeAndOfOneJobOnly) {
  EXPECT_EQ(ProfileFileName({.gang = "llama-7b_v1.2", .uid = 1000, .size = 4}), "1000-4-llama-7b_v1.2.json");
  EXPECT_EQ(ProfileFileName({.gang = "../a%", .uid = 0, .size = 0}), "0-0-..%2fa%25.json");
  const std::string long_name(127, '/');
  std::set<std::string> names;
  for (const std::string& gang : {std::string("a"), std::string("A"), std::string("a/"), std::string("a%2f"),
                                  long_name, long_name.substr(1), long_name.substr(1) + "a"}) {
    for (const std::uint32_t uid : {0u, 1u, 0xffffffffu}) {
      for (const std::uint32_t size : {0u, 1u, 0xffffffffu}) {
        const std::string name = ProfileFileName({.gang = gang, .uid = uid, .size = size});
        EXPECT_LT(name.size(), 200u);
        EXPECT_EQ(name.find('/'), std::string::npos);
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
