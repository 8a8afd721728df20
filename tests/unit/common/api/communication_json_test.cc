#include "common/api/communication_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/api/gpu_node.h"
#include "common/api/job_profile.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kGoldenCall[] =
    R"({"pod": "train-0", "communicator": "9f86d081884c7d65", "size": 8, "rank": 3, "function": "Send", "peer": 4,
        "bytes": 1048576})";

constexpr char kGoldenStatus[] =
    R"({"communication": {"pods": 4, "runs": 2, "gang": "team/train", "beganAt": "2023-11-14T22:13:20Z",
        "groups": [{"function": "AllReduce", "members": [0, 1, 2, 3], "bytes": 12582912},
                   {"function": "Send", "members": [0, 1], "bytes": 1048576}]}})";

// Returns what is read of the golden call after an RFC 7386 merge patch.
std::vector<NcclCall> Calls(const char* patch) {
  json call = json::parse(kGoldenCall);
  call.merge_patch(json::parse(patch));
  return CallsOf({{"communication", json::array({call})}});
}

TEST(ParseCommunicationTest, TheGoldenCall) {
  EXPECT_THAT(Calls("{}"), ElementsAre(NcclCall{.pod = "train-0",
                                                .communicator = 0x9f86d081884c7d65,
                                                .size = 8,
                                                .rank = 3,
                                                .function = NcclFunction::kSend,
                                                .peer = 4,
                                                .bytes = 1048576}));
  for (const char* patch :
       {R"({"size": 1048576, "rank": 1048575})", R"({"bytes": 0})", R"({"function": "Broadcast", "peer": 0})",
        R"({"communicator": "0000000000000000"})", R"({"later": {"field": 1}})", R"({"rank": 4})"})
    EXPECT_THAT(Calls(patch), SizeIs(1)) << patch;
}

TEST(ParseCommunicationTest, APeerCountsOnlyWhereThereIsOne) {
  EXPECT_EQ(Calls(R"({"function": "AllReduce"})").at(0).peer, std::nullopt);
  EXPECT_THAT(Calls(R"({"function": "AlltoAll", "peer": null})"), SizeIs(1));
  for (const char* function : {"Send", "Recv", "Broadcast", "Reduce", "Gather", "Scatter"}) {
    const std::string patch = R"({"peer": null, "function": ")" + std::string(function) + "\"}";
    EXPECT_THAT(Calls(patch.c_str()), IsEmpty()) << patch;
  }
}

TEST(ParseCommunicationTest, EachBrokenTwinOfTheCallIsLeftOut) {
  for (const char* patch : {R"({"pod": ""})",
                            R"({"pod": 3})",
                            R"({"communicator": "9F86D081884C7D65"})",
                            R"({"communicator": "9f86d081884c7d6"})",
                            R"({"communicator": "9f86d081884c7d65a"})",
                            R"({"communicator": 9})",
                            R"({"size": 1})",
                            R"({"size": 1048577})",
                            R"({"size": null})",
                            R"({"size": "8"})",
                            R"({"size": 8.5})",
                            R"({"rank": 8})",
                            R"({"rank": -1})",
                            R"({"rank": null})",
                            R"({"peer": 8})",
                            R"({"peer": -1})",
                            R"({"peer": null})",
                            R"({"function": "allreduce"})",
                            R"({"function": null})",
                            R"({"bytes": -1})",
                            R"({"bytes": 1000000000000001})",
                            R"({"bytes": 1e3})",
                            R"({"bytes": 18446744073709551615})",
                            R"({"bytes": null})"})
    EXPECT_THAT(Calls(patch), IsEmpty()) << patch;
  json job = {{"communication", json::array({json::parse(kGoldenCall), 7, nullptr, json::array()})}};
  EXPECT_THAT(CallsOf(job), SizeIs(1)) << "the others of the job count";
}

TEST(ParseCommunicationTest, NoMoreThanTheDefinitionAllows) {
  json job = {{"communication", json::array()}};
  for (std::size_t i = 0; i < kMostCallsOfJob; ++i) job["communication"].push_back(json::parse(kGoldenCall));
  EXPECT_THAT(CallsOf(job), SizeIs(kMostCallsOfJob));
  job["communication"].push_back(json::parse(kGoldenCall));
  EXPECT_THAT(CallsOf(job), IsEmpty());
  for (const char* text : {"null", "[]", "{}", R"({"communication": {"a": 1}})"})
    EXPECT_THAT(CallsOf(json::parse(text)), IsEmpty()) << text;
}

TEST(ParseCommunicationTest, TheCallsAreThoseOfTheJobOfTheNode) {
  const json node = {{"metadata", {{"name", "n"}}},
                     {"status",
                      {{"jobs",
                        {{{"namespace", "team"},
                          {"gang", "team/a"},
                          {"measuredAt", "2023-11-14T22:13:30Z"},
                          {"communication", json::array({json::parse(kGoldenCall)})}}}}}}};
  const auto jobs = JobsOf(node);
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_THAT(jobs[0].communication, SizeIs(1));
}

TEST(ParseCommunicationTest, TheGoldenStatus) {
  const Communication read = CommunicationOf(json::parse(kGoldenStatus));
  EXPECT_EQ(read.pods, 4);
  EXPECT_EQ(read.runs, 2);
  EXPECT_EQ(read.gang, "team/train");
  EXPECT_EQ(read.began_s, 1.7e9);
  EXPECT_THAT(read.groups,
              ElementsAre(CallGroup{.members = {0, 1, 2, 3}, .bytes = 12582912},
                          CallGroup{.function = NcclFunction::kSend, .members = {0, 1}, .bytes = 1048576}));
  const json profile = {{"metadata", {{"name", "m"}, {"namespace", "team"}}},
                        {"status", json::parse(kGoldenStatus)}};
  EXPECT_EQ(ParseJobProfile(profile).value().communication, read);
}

TEST(ParseCommunicationTest, OfEachBrokenTwinOfTheStatusNothingCounts) {
  for (const char* patch :
       {R"({"pods": 0})", R"({"pods": 3})", R"({"pods": 16385})", R"({"pods": "4"})", R"({"runs": 0})",
        R"({"runs": -2})", R"({"runs": null})", R"({"groups": []})", R"({"groups": {"a": 1}})",
        R"({"groups": [7]})", R"({"groups": [{"function": "AllReduce", "members": [0, 1]}]})",
        R"({"groups": [{"function": "AllReduce", "members": [0, 4], "bytes": 1}]})",
        R"({"groups": [{"function": "AllReduce", "members": [0, -1], "bytes": 1}]})",
        R"({"groups": [{"function": "AllReduce", "members": [0], "bytes": 1}]})",
        R"({"groups": [{"function": "AllReduce", "members": "01", "bytes": 1}]})",
        R"({"groups": [{"function": "AllReduce", "members": [0, 1], "bytes": 0}]})",
        R"({"groups": [{"function": "Send", "members": [0, 1, 2], "bytes": 1}]})",
        R"({"groups": [{"function": "Recv", "members": [0, 1], "bytes": 1}]})",
        R"({"groups": [{"function": "Barrier", "members": [0, 1], "bytes": 1}]})"}) {
    json status = json::parse(kGoldenStatus);
    status["communication"].merge_patch(json::parse(patch));
    EXPECT_EQ(CommunicationOf(status), Communication{}) << patch;
  }
  for (const char* text : {"null", "[]", R"({"communication": 7})", R"({"communication": null})"})
    EXPECT_EQ(CommunicationOf(json::parse(text)), Communication{}) << text;
}

TEST(ParseCommunicationTest, AStatusHasAtMostAsManyGroupsAndMembersAsTheDefinitionAllows) {
  json status = json::parse(kGoldenStatus);
  json& groups = status["communication"]["groups"];
  const json group = groups[1];
  groups = json::array();
  for (std::size_t i = 0; i < kMostCallGroups; ++i) groups.push_back(group);
  EXPECT_THAT(CommunicationOf(status).groups, SizeIs(kMostCallGroups));
  groups.push_back(group);
  EXPECT_THAT(CommunicationOf(status).groups, IsEmpty());
  groups = json::array({group, {{"function", "AllGather"}, {"bytes", 1}, {"members", json::array()}}});
  for (std::size_t i = 2; i < kMostMembers; ++i) groups[1]["members"].push_back(0);
  EXPECT_THAT(CommunicationOf(status).groups, SizeIs(2));
  groups[1]["members"].push_back(0);
  EXPECT_THAT(CommunicationOf(status).groups, IsEmpty());
}

TEST(NcclFunctionTest, EachHasTheNameThatFindsIt) {
  int named = 0;
  for (const char* name : {"AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "Send", "Recv",
                           "AlltoAll", "Gather", "Scatter"}) {
    const auto function = FunctionNamed(name);
    ASSERT_TRUE(function) << name;
    EXPECT_EQ(static_cast<int>(*function), named++) << name;
    EXPECT_STREQ(NameOf(*function), name);
  }
  EXPECT_FALSE(FunctionNamed("ncclSend"));
  EXPECT_FALSE(FunctionNamed(""));
}

}  // namespace
}  // namespace crossover::api
