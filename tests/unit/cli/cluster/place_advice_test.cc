#include "cli/cluster/place_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns a run on two nodes, seen last at `hour` o'clock, whose busiest uplink is busy for 40 of 60 ms and
// could be for `least`.
json Ran(const char* gang, double least, const char* hour = "12") {
  return {{"gang", gang},
          {"lastSeen", std::string("2027-01-15T") + hour + ":00:00Z"},
          {"nodes", 2},
          {"computeSeconds", 0.02},
          {"exposedSeconds", 0.04},
          {"uplinkSeconds", 0.04},
          {"leastUplinkSeconds", least}};
}

json Profiles(const json& runs, int agreed = 2) {
  const json group = {{"function", "AllReduce"}, {"members", {0, 1}}, {"bytes", 8}};
  const json communication = {{"pods", 2}, {"runs", agreed}, {"groups", json::array({group})}};
  return json::array({{{"metadata", {{"name", "p"}, {"namespace", "team"}}},
                       {"status", {{"runs", runs}, {"communication", communication}}}}});
}

TEST(PlaceAdviceTest, SaysWhatOtherSeatsWouldGain) {
  const json advice = PlaceAdvice(Profiles({Ran("team/a", 0.03), Ran("team/b", 0.01)}), 0);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0]["gang"], "team/b") << "it gains most";
  EXPECT_EQ(advice[0]["namespace"], "team");
  EXPECT_DOUBLE_EQ(advice[0]["gain"], 2);
  EXPECT_DOUBLE_EQ(advice[1]["gain"], 1.2);
  EXPECT_THAT(
      PlaceText(advice, false),
      HasSubstr("team/b: the busiest uplink of a node carries its bytes for 40.0 ms of a step of 60.0 "
                "ms, and for 10.0 ms if its pods are placed by what they send. A step is 2.00 times "
                "as fast then. The next run of the job is placed so, unless constraints between its pods or "
                "unequal GPUs decide. Its run was last seen at 2027"));
}

TEST(PlaceAdviceTest, AWaitForInputDoesNotBecomeShorter) {
  json run = Ran("team/a", 0.01);
  run["inputWait"] = {{"seconds", 0.03}};
  EXPECT_DOUBLE_EQ(PlaceAdvice(Profiles(json::array({run})), 0)[0]["gain"], 60.0 / 50)
      << "10 of 40 ms are communication, and nothing of it is left";
}

TEST(PlaceAdviceTest, TheLatestRunOfAGangCounts) {
  const json runs = json::array({Ran("team/a", 0.01, "11"), Ran("team/a", 0.04), Ran("team/a", 0.02, "10")});
  const json advice = PlaceAdvice(Profiles(runs), 0);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_DOUBLE_EQ(advice[0]["gain"], 1);
  EXPECT_EQ(PlaceText(advice, true), "") << "its pods are placed so";
  EXPECT_THAT(PlaceAdvice(Profiles(runs), 3e9), IsEmpty()) << "they ended before";
}

TEST(PlaceAdviceTest, OneNodeHasNoUplinkBetweenItsPods) {
  json run = Ran("team/a", 0.01);
  run["nodes"] = 1;
  EXPECT_THAT(PlaceAdvice(Profiles(json::array({run})), 0), IsEmpty());
}

TEST(PlaceAdviceTest, SaysWhyAGainIsNotKnown) {
  const auto why = [](const std::function<void(json&)>& change, int agreed = 2) {
    json run = Ran("team/a", 0.01);
    change(run);
    const json advice = PlaceAdvice(Profiles(json::array({run}), agreed), 0);
    EXPECT_EQ(PlaceText(advice, false), "");
    return PlaceText(advice, true);
  };
  const auto no_uplink = [](json& run) { run.erase("uplinkSeconds"); };
  EXPECT_EQ(why(no_uplink, 1),
            "team/a: not known, expected two runs in a row that agree on what their pods send, got 1\n");
  EXPECT_THAT(why(no_uplink), HasSubstr("expected uplinkSeconds of its run, got none"));
  EXPECT_THAT(why([](json& run) { run.erase("uplinkSeconds"), run.erase("nodes"); }),
              HasSubstr("expected the number of its nodes, got none"));
  EXPECT_THAT(why([](json& run) { run.erase("computeSeconds"); }), HasSubstr("expected computeSeconds"));
  EXPECT_THAT(why([](json& run) { run["leastUplinkSeconds"] = 0.05; }), HasSubstr("not known"));
}

}  // namespace
}  // namespace crossover::cli
