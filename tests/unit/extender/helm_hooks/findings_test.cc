#include "extender/helm_hooks/findings.h"

#include <gmock/gmock.h>

namespace crossover::extender {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> LinesOf(const json& gpu_nodes) {
  std::vector<std::string> lines;
  for (const Holder& holder : HoldersIn(gpu_nodes)) lines.push_back(LineOf(holder));
  return lines;
}

TEST(HoldersIn, NamesEachPodOnceOnEachOfItsNodes) {
  const json list = json::parse(R"({"items": [
    {"metadata": {"name": "n2"}, "status": {"gpus": [
      {"uuid": "GPU-a", "holders": [{"namespace": "team", "pod": "b", "slots": ["GPU-a::0"]}]},
      {"uuid": "GPU-b", "holders": [{"namespace": "team", "pod": "b", "slots": ["GPU-b::1"]},
                                    {"namespace": "team", "pod": "a", "slots": ["GPU-b::0"]}]}]}},
    {"metadata": {"name": "n1"}, "status": {"gpus": [{"uuid": "GPU-c", "holders": []}]}}]})");
  EXPECT_THAT(LinesOf(list), ElementsAre("team/a on n2: 1 slot", "team/b on n2: 2 slots"));
}

TEST(HoldersIn, CountsASlotOnceThatAnInitContainerLeftToTheMainOne) {
  const json list = json::parse(R"({"items": [{"metadata": {"name": "n1"}, "status": {"gpus": [
    {"uuid": "GPU-a", "holders": [
      {"namespace": "team", "pod": "a", "container": "init", "slots": ["GPU-a::0"]},
      {"namespace": "team", "pod": "a", "container": "main", "slots": ["GPU-a::0", "GPU-a::1"]}]}]}}]})");
  EXPECT_THAT(LinesOf(list), ElementsAre("team/a on n1: 2 slots"));
}

TEST(HoldersIn, FindsNoneWhereThereAreNone) {
  EXPECT_THAT(HoldersIn(json::parse(R"({"items": []})")), IsEmpty());
  EXPECT_THAT(HoldersIn(json::parse(R"({"items": [{"metadata": {"name": "n"}}]})")), IsEmpty());
  EXPECT_THAT(HoldersIn(json::parse(R"(["what is this"])")), IsEmpty());
}

json PodOn(const char* node, const char* phase, const char* resource = "crossover.dev/slot") {
  const json container = {{"name", "main"}, {"resources", {{"limits", {{resource, "1"}}}}}};
  return {{"metadata", {{"name", "a"}, {"namespace", "team"}, {"uid", "u"}}},
          {"spec", {{"nodeName", node}, {"containers", json::array({container})}}},
          {"status", {{"phase", phase}}}};
}

TEST(StillHolds, APodOfThatNodeUntilItIsOver) {
  const Holder holder{.name_space = "team", .pod = "a", .node = "n1", .slots = 1};
  for (const char* phase : {"Pending", "Running", "Unknown"})
    EXPECT_TRUE(StillHolds(holder, PodOn("n1", phase))) << phase;
  for (const char* phase : {"Succeeded", "Failed"})
    EXPECT_FALSE(StillHolds(holder, PodOn("n1", phase))) << phase;
  for (const char* node : {"n2", ""})
    EXPECT_FALSE(StillHolds(holder, PodOn(node, "Running"))) << "another of its name, on " << node;
  EXPECT_FALSE(StillHolds(holder, PodOn("n1", "Running", "nvidia.com/gpu"))) << "another of its name";
}

TEST(StillHolds, WhatIsNoPodDoesNotSayThatItIsGone) {
  const Holder holder{.name_space = "team", .pod = "a", .node = "n1", .slots = 1};
  for (const json& answer : {json(), json("text"), json::object(), json::parse("{", nullptr, false)})
    EXPECT_TRUE(StillHolds(holder, answer));
}

TEST(WhyNotRewritten, IsSilentAboutAPodThatWaitsForItsGang) {
  EXPECT_EQ(WhyNotRewritten(json::parse(R"({"spec": {"schedulerName": "crossover-scheduler",
                                            "schedulingGates": [{"name": "other"}, {"name": "crossover.dev/gang"}]}})")),
            "");
}

TEST(WhyNotRewritten, SaysWhatIsMissing) {
  EXPECT_THAT(WhyNotRewritten(PodThatShares("team")), HasSubstr("the webhook was not asked"));
  EXPECT_THAT(WhyNotRewritten(json::parse(R"({"spec": {"schedulerName": "crossover-scheduler"}})")),
              HasSubstr("no scheduling gate crossover.dev/gang"));
  EXPECT_EQ(WhyNotRewritten(json("text")), "the answer is no pod");
}

}  // namespace
}  // namespace crossover::extender
