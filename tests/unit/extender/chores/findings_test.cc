#include "extender/chores/findings.h"

#include <gmock/gmock.h>

namespace crossover::extender {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HoldersIn, NamesEachPodOnceOnEachOfItsNodes) {
  const json list = json::parse(R"({"items": [
    {"metadata": {"name": "n2"}, "status": {"gpus": [
      {"uuid": "GPU-a", "holders": [{"namespace": "team", "pod": "b", "slots": ["GPU-a::0"]}]},
      {"uuid": "GPU-b", "holders": [{"namespace": "team", "pod": "b", "slots": ["GPU-b::1"]},
                                    {"namespace": "team", "pod": "a", "slots": ["GPU-b::0"]}]}]}},
    {"metadata": {"name": "n1"}, "status": {"gpus": [{"uuid": "GPU-c", "holders": []}]}}]})");
  EXPECT_THAT(HoldersIn(list), ElementsAre("team/a on n2: 1 slot", "team/b on n2: 2 slots"));
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
  EXPECT_THAT(WhyNotRewritten(PodThatShares("team")), HasSubstr("the webhook was not asked"));
  EXPECT_THAT(WhyNotRewritten(json::parse(R"({"spec": {"schedulerName": "crossover-scheduler"}})")),
              HasSubstr("no scheduling gate crossover.dev/gang"));
  EXPECT_EQ(WhyNotRewritten(json("text")), "the answer is no pod");
}

}  // namespace
}  // namespace crossover::extender
