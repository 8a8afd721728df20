#include "deviceplugin/pods/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr char kSlot[] = "crossover.dev/slot";

// Kubelets 1.31 to 1.36 write the file like this.
constexpr char kFile[] = R"({"Data":{"PodDeviceEntries":[
  {"PodUID":"u1","ContainerName":"main","ResourceName":"crossover.dev/slot",
   "DeviceIDs":{"-1":["GPU-b::0"],"0":["GPU-a::1"]},"AllocResp":"CgA="},
  {"PodUID":"u1","ContainerName":"main","ResourceName":"example.com/nic","DeviceIDs":{"-1":["x"]},"AllocResp":""},
  {"PodUID":"u2","ContainerName":"side","ResourceName":"crossover.dev/slot","DeviceIDs":{"-1":["GPU-a::0"]}}],
  "RegisteredDevices":{"crossover.dev/slot":["GPU-a::0","GPU-a::1"]}},"Checksum":1893223})";

TEST(CheckpointTest, EntriesOfOneResource) {
  EXPECT_THAT(ParseCheckpoint(kFile, kSlot)->handed_out,
              ElementsAre(DeviceAllocation{"u1", "main", {"GPU-a::1", "GPU-b::0"}, std::string("\n\0", 2)},
                          DeviceAllocation{"u2", "side", {"GPU-a::0"}, ""}));
  EXPECT_THAT(ParseCheckpoint(kFile, "example.com/other")->handed_out, IsEmpty());
}

TEST(CheckpointTest, WhatOthersHaveRegistered) {
  EXPECT_THAT(ParseCheckpoint(kFile, kSlot)->registered, IsEmpty());
  EXPECT_THAT(ParseCheckpoint(kFile, "example.com/other")->registered,
              ElementsAre(Pair(kSlot, ElementsAre("GPU-a::0", "GPU-a::1"))));
}

TEST(CheckpointTest, WhatOthersHaveHandedOut) {
  EXPECT_THAT(ParseCheckpoint(kFile, kSlot)->by_others,
              ElementsAre(DeviceAllocationByOthers{"example.com/nic", "u1", {"x"}}));
}

TEST(CheckpointTest, NothingHandedOutYet) {
  const auto checkpoint =
      ParseCheckpoint(R"({"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1})", kSlot);
  ASSERT_TRUE(checkpoint);
  EXPECT_THAT(checkpoint->handed_out, IsEmpty());
}

TEST(CheckpointTest, OddEntriesAreNoReasonToFail) {
  EXPECT_THAT(ParseCheckpoint(R"({"Data":{"PodDeviceEntries":[7,{},{"ResourceName":"crossover.dev/slot",
      "DeviceIDs":{"0":3,"1":["x",4]}}],"RegisteredDevices":7}})",
                              kSlot)
                  ->handed_out,
              ElementsAre(DeviceAllocation{"", "", {"x"}, ""}));
}

TEST(CheckpointTest, WhatWeAnswered) {
  const auto answer = [](const std::string& base64) {
    const std::string file =
        R"({"Data":{"PodDeviceEntries":[{"ResourceName":"crossover.dev/slot","AllocResp":")" + base64 +
        R"("}]}})";
    return ParseCheckpoint(file, kSlot)->handed_out.front().answer;
  };
  EXPECT_EQ(answer("L3Zhci9saWIvY3Jvc3NvdmVyL2xpYi8wMTIz"), "/var/lib/crossover/lib/0123");
  EXPECT_EQ(answer("L3Zhcg=="), "/var");
  EXPECT_EQ(answer("/+8="), "\xff\xef");
  EXPECT_EQ(answer("L3Zh!cg"), "/va") << "no more than what is base64";
  EXPECT_EQ(answer(""), "");
}

TEST(CheckpointTest, NoSuchFile) {
  for (const char* text : {"", "{", "[]", "{}", R"({"Data":3})", "\xff"}) {
    EXPECT_FALSE(ParseCheckpoint(text, kSlot)) << text;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
