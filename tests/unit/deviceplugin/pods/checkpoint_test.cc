#include "deviceplugin/pods/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kSlot[] = "crossover.dev/slot";

// As kubelets 1.31 to 1.36 write it.
constexpr char kFile[] = R"({"Data":{"PodDeviceEntries":[
  {"PodUID":"u1","ContainerName":"main","ResourceName":"crossover.dev/slot",
   "DeviceIDs":{"-1":["GPU-b::0"],"0":["GPU-a::1"]},"AllocResp":"CgA="},
  {"PodUID":"u1","ContainerName":"main","ResourceName":"example.com/nic","DeviceIDs":{"-1":["x"]},"AllocResp":""},
  {"PodUID":"u2","ContainerName":"side","ResourceName":"crossover.dev/slot","DeviceIDs":{"-1":["GPU-a::0"]}}],
  "RegisteredDevices":{"crossover.dev/slot":["GPU-a::0","GPU-a::1"]}},"Checksum":1893223})";

TEST(CheckpointTest, EntriesOfOneResource) {
  EXPECT_THAT(
      ParseCheckpoint(kFile, kSlot),
      testing::Optional(ElementsAre(HandedOut{"u1", "main", {"GPU-a::1", "GPU-b::0"}, std::string("\n\0", 2)},
                                    HandedOut{"u2", "side", {"GPU-a::0"}, ""})));
  EXPECT_THAT(ParseCheckpoint(kFile, "example.com/other"), testing::Optional(IsEmpty()));
}

TEST(CheckpointTest, NothingHandedOutYet) {
  EXPECT_THAT(
      ParseCheckpoint(R"({"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1})", kSlot),
      testing::Optional(IsEmpty()));
}

TEST(CheckpointTest, OddEntriesAreNoReasonToFail) {
  EXPECT_THAT(ParseCheckpoint(R"({"Data":{"PodDeviceEntries":[7,{},{"ResourceName":"crossover.dev/slot",
      "DeviceIDs":{"0":3,"1":["x",4]}}]}})",
                              kSlot),
              testing::Optional(ElementsAre(HandedOut{"", "", {"x"}, ""})));
}

TEST(CheckpointTest, WhatWeAnswered) {
  const auto answer = [](const std::string& base64) {
    const std::string file =
        R"({"Data":{"PodDeviceEntries":[{"ResourceName":"crossover.dev/slot","AllocResp":")" + base64 +
        R"("}]}})";
    return ParseCheckpoint(file, kSlot)->front().answer;
  };
  EXPECT_EQ(answer("L3Zhci9saWIvY3Jvc3NvdmVyL2xpYi8wMTIz"), "/var/lib/crossover/lib/0123");
  EXPECT_EQ(answer("L3Zhcg=="), "/var");
  EXPECT_EQ(answer("/+8="), "\xff\xef");
  EXPECT_EQ(answer("L3Zh!cg"), "/va") << "no more than what is base64";
  EXPECT_EQ(answer(""), "");
}

TEST(CheckpointTest, NoSuchFile) {
  for (const char* text : {"", "{", "[]", "{}", R"({"Data":3})", "\xff"}) {
    EXPECT_EQ(ParseCheckpoint(text, kSlot), std::nullopt) << text;
  }
  EXPECT_EQ(ReadCheckpoint("/nonexistent", kSlot), std::nullopt);
}

}  // namespace
}  // namespace crossover::deviceplugin
