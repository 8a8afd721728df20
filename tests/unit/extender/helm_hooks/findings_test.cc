#include "extender/helm_hooks/findings.h"

#include <gmock/gmock.h>

namespace crossover::extender {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

json PodOn(const char* name, const char* node, const char* phase, json slots = "1",
           const char* resource = "crossover.dev/slot") {
  const json container = {{"name", "main"}, {"resources", {{"limits", {{resource, slots}}}}}};
  return {{"metadata", {{"name", name}, {"namespace", "team"}, {"uid", "u"}}},
          {"spec", {{"nodeName", node}, {"containers", json::array({container})}}},
          {"status", {{"phase", phase}}}};
}

std::vector<std::string> LinesOf(const std::vector<json>& pods) {
  std::vector<std::string> lines;
  for (const Holder& holder : HoldersIn({{"items", pods}})) lines.push_back(LineOf(holder));
  return lines;
}

TEST(HoldersIn, NamesPodsWithTheirNodesAndSlots) {
  EXPECT_THAT(LinesOf({PodOn("b", "n2", "Running", "2"), PodOn("a", "n1", "Running")}),
              ElementsAre("team/b on n2: 2 slots", "team/a on n1: 1 slot"));
}

TEST(HoldersIn, APodHoldsItsSlotsFromItsBindingToItsEnd) {
  for (const char* phase : {"", "Pending", "Running", "Unknown"})
    EXPECT_THAT(LinesOf({PodOn("a", "n1", phase)}), SizeIs(1)) << phase;
  for (const char* phase : {"Succeeded", "Failed"})
    EXPECT_THAT(LinesOf({PodOn("a", "n1", phase)}), IsEmpty()) << phase;
  EXPECT_THAT(LinesOf({PodOn("a", "", "Pending")}), IsEmpty()) << "it is bound to no node";
  EXPECT_THAT(LinesOf({PodOn("a", "n1", "Running", "1", "nvidia.com/gpu")}), IsEmpty());
  EXPECT_THAT(LinesOf({PodOn("a", "n1", "Running", "0")}), IsEmpty());
}

TEST(HoldersIn, FindsNoneWhereThereAreNone) {
  EXPECT_THAT(HoldersIn(json::parse(R"({"items": []})")), IsEmpty());
  EXPECT_THAT(HoldersIn(json::parse(R"({"items": [{"metadata": {"name": "n"}}]})")), IsEmpty());
  EXPECT_THAT(HoldersIn(json::parse(R"(["what is this"])")), IsEmpty());
}

TEST(WhyNotRewritten, IsSilentAboutAPodThatWaitsForItsGang) {
  EXPECT_EQ(WhyNotRewritten(json::parse(R"({"spec": {"schedulerName": "crossover-scheduler",
                                            "schedulingGates": [{"name": "other"}, {"name": "crossover.dev/gang"}]}})")),
            "");
}

TEST(WhyNotRewritten, SaysWhatIsMissing) {
  EXPECT_THAT(WhyNotRewritten(PodThatShares("team")), HasSubstr("did not ask the webhook"));
  EXPECT_THAT(WhyNotRewritten(json::parse(R"({"spec": {"schedulerName": "crossover-scheduler"}})")),
              HasSubstr("no scheduling gate crossover.dev/gang"));
  EXPECT_EQ(WhyNotRewritten(json("text")),
            "expected a pod as the API server's answer, got an answer without spec");
}

}  // namespace
}  // namespace crossover::extender
