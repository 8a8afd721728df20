#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/cluster/advise.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a run on two GPUs, from `from` to `to` o'clock.
json Ran(const char* gang, const char* from, const char* to, double compute = 0.02, double away = 0.012) {
  json run = {{"gang", gang},
              {"beganAt", std::string("2027-01-15T") + from + ":00Z"},
              {"lastSeen", std::string("2027-01-15T") + to + ":00Z"},
              {"gpus", 2}};
  if (compute > 0) run.update({{"computeSeconds", compute}, {"exposedSeconds", away}});
  return run;
}

json Profile(const char* name_space, const json& runs) {
  return {{"metadata", {{"name", "p"}, {"namespace", name_space}}}, {"status", {{"runs", runs}}}};
}

json Only(const json& profiles, double since_s = 0) {
  const json advice = AdviceOf(profiles, since_s);
  EXPECT_EQ(advice["namespaces"].size(), 1u) << advice;
  return advice["namespaces"].empty() ? json() : advice["namespaces"][0];
}

TEST(AdviceTest, APairSavesWhatItWouldHaveGained) {
  const json advice = Only(
      json::array({Profile("team", json::array({Ran("a", "08:00", "12:00"), Ran("b", "10:00", "14:00")}))}));
  EXPECT_DOUBLE_EQ(advice["gpuHours"], 16);
  EXPECT_DOUBLE_EQ(advice["knownGPUHours"], 16);
  EXPECT_DOUBLE_EQ(advice["pairs"][0]["gain"], 0.98 * 1.6) << "u is 0.625 each";
  EXPECT_DOUBLE_EQ(advice["savedGPUHours"], 8 * (1 - 1 / (0.98 * 1.6))) << "of the two hours that both ran";
}

// Each job sends 2 GB in an iteration of 32 ms. A link of 100 GB/s takes 20 ms for that, the GPU 8 ms for the
// rest.
TEST(AdviceTest, WhatTheLinkCarriesLimitsAPairOnSeveralNodes) {
  const auto gain = [](double link_bytes_per_s, int nodes) {
    json runs =
        json::array({Ran("a", "08:00", "12:00", 0.008, 0.024), Ran("b", "08:00", "12:00", 0.008, 0.024)});
    for (json& run : runs) run["nodes"] = nodes;
    json profile = Profile("team", runs);
    profile["status"]["linkBytes"] = 2'000'000'000;
    const json advice = AdviceOf(json::array({profile}), 0, link_bytes_per_s);
    return advice["namespaces"][0]["pairs"][0]["gain"].get<double>();
  };
  EXPECT_DOUBLE_EQ(gain(100e9, 2), 0.98 * 1.6);
  EXPECT_DOUBLE_EQ(gain(100e9, 1), 0.98 * 2) << "one node has no link between its pods";
  EXPECT_DOUBLE_EQ(gain(0, 2), 0.98 * 2) << "no node tells its link";
  EXPECT_DOUBLE_EQ(gain(400e9, 2), 0.98 * 2) << "a fast link";
  const auto node = [](const json& link) -> json {
    return {{"metadata", {{"name", "n"}}}, {"status", {{"linkBytesPerSecond", link}}}};
  };
  EXPECT_EQ(UsualLink(json::array({node(9), json::object(), node(4)})), 4);
  EXPECT_EQ(UsualLink(json::array({node("fast"), 7})), 0);
}

TEST(AdviceTest, EachRunIsInOnePairTheBestFirst) {
  const json advice =
      Only(json::array({Profile("team", json::array({Ran("a", "08:00", "12:00"), Ran("b", "08:00", "09:00"),
                                                     Ran("c", "08:00", "12:00")}))}));
  ASSERT_EQ(advice["pairs"].size(), 1u);
  EXPECT_EQ(advice["pairs"][0]["gangs"], json::array({"a", "c"}));
}

TEST(AdviceTest, WhoCannotMeetSavesNothing) {
  json other_gpus = Ran("b", "08:00", "12:00");
  other_gpus["gpus"] = 4;
  const auto saved = [](const json& other) {
    return Only(json::array(
        {Profile("team", json::array({Ran("a", "08:00", "12:00"), other}))}))["savedGPUHours"]
        .get<double>();
  };
  EXPECT_GT(saved(Ran("b", "08:00", "12:00")), 0) << "the control";
  EXPECT_EQ(saved(other_gpus), 0);
  EXPECT_EQ(saved(Ran("b", "12:00", "14:00")), 0) << "at another time";
  EXPECT_EQ(Only(json::array(
                {Profile("team", json::array({Ran("a", "08:00", "12:00", 0.02, 0),
                                              Ran("b", "08:00", "12:00", 0.02, 0)}))}))["savedGPUHours"],
            0)
      << "neither communicates";
  const json apart = AdviceOf(json::array({Profile("team", json::array({Ran("a", "08:00", "12:00")})),
                                           Profile("other", json::array({Ran("b", "08:00", "12:00")}))}),
                              0);
  for (const json& entry : apart["namespaces"]) EXPECT_EQ(entry["savedGPUHours"], 0) << "of other namespaces";
}

// Returns a run whose step takes 100 ms and computes for that part of it.
json Computes(const char* gang, double part) {
  return Ran(gang, "08:00", "12:00", 0.1 * part, 0.1 * (1 - part));
}

// Returns, for each job without a pair, why.
json ReasonsOf(const json& profile, double link_bytes_per_s = 0) {
  json reasons = json::object();
  const json advice = AdviceOf(json::array({profile}), 0, link_bytes_per_s);
  for (const json& run : advice["namespaces"][0]["unpaired"])
    reasons[run["gang"].get<std::string>()] = run["why"];
  return reasons;
}

TEST(AdviceTest, AJobWithoutAPairIsToldWhy) {
  json small = Computes("team/small", 0.5);
  small["gpus"] = 1;
  const json profile =
      Profile("team", json::array({Computes("team/a", 0.5), Computes("team/b", 0.5), Computes("team/c", 0.55),
                                   Ran("team/unseen", "08:00", "12:00", 0), small}));
  EXPECT_EQ(ReasonsOf(profile),
            json({{"team/c", "each job that it gains with is in a pair that saves more"},
                  {"team/unseen", "its compute and its waits are not known"},
                  {"team/small",
                   "no other job that had its GPUs alone, and whose needs are known, ran at the same time on "
                   "1 GPU, too"}}));
}

TEST(AdviceTest, AGainThatIsAlmostEnoughIsRoundedDown) {
  const json profile =
      Profile("team", json::array({Computes("team/a", 0.907), Computes("team/b", 0.907)}));  // 1.047
  EXPECT_THAT(ReasonsOf(profile)["team/a"].get<std::string>(),
              HasSubstr("1.04 times, expected 1.05 at least"));
}

TEST(AdviceTest, AJobThatGainsTooLittleIsToldWhatIsInTheWay) {
  const json busy = Profile("team", json::array({Computes("team/full", 0.98), Computes("team/busy", 0.95),
                                                 Computes("team/fuller", 0.99)}));
  EXPECT_EQ(
      ReasonsOf(busy)["team/full"],
      "with team/busy it gains most, 0.98 times, expected 1.05 at least: this job computes for 98% of its "
      "step, and the other job for 95% of its own step");
  json sends = Profile("team", json::array({Computes("team/a", 0.2), Computes("team/b", 0.2)}));
  for (json& run : sends["status"]["runs"]) run["nodes"] = 2;
  sends["status"]["linkBytes"] = 9'500'000;
  EXPECT_TRUE(ReasonsOf(sends).empty()) << "the control: the link is not known";
  EXPECT_EQ(ReasonsOf(sends, 1e8)["team/a"],
            "with team/b it gains most, 1.00 times, expected 1.05 at least: this job keeps the link busy for "
            "95% of its step, and the other job for 95% of its own step");
  const json advice = AdviceOf(json::array({busy}), 0);
  EXPECT_THAT(AdviceText(advice, true),
              HasSubstr("\nJobs that are in no pair:\nteam/busy: with team/full it gains"));
  EXPECT_THAT(AdviceText(advice, false), Not(HasSubstr("team/busy")));
}

TEST(AdviceTest, RunsThatSharedAreNoAdvice) {
  json profile = Profile("team", json::array({Ran("a", "08:00", "12:00"), Ran("b", "08:00", "12:00"),
                                              Ran("c", "08:00", "12:00")}));
  profile["status"]["meetings"] =
      json::array({{{"gains", json::array({{{"gang", "a"}, {"otherGang", "b"}}})}}});
  EXPECT_DOUBLE_EQ(Only(json::array({profile}))["gpuHours"], 8);
  EXPECT_EQ(Only(json::array({profile}))["savedGPUHours"], 0);
}

TEST(AdviceTest, WhetherItSharedARunSaysItself) {
  json shared = Ran("a", "08:00", "12:00"), alone = Ran("b", "08:00", "12:00");
  shared["shared"] = true;
  alone["shared"] = false;
  json profile = Profile("team", json::array({shared, alone, Ran("c", "08:00", "12:00")}));
  json advice = Only(json::array({profile}));
  EXPECT_DOUBLE_EQ(advice["gpuHours"], 16);
  ASSERT_EQ(advice["pairs"].size(), 1u);
  EXPECT_EQ(advice["pairs"][0]["gangs"], json::array({"b", "c"}));
  // The meeting may be one of another run of that gang. It counts only for a run that does not say itself
  // whether it shared.
  profile["status"]["meetings"] =
      json::array({{{"gains", json::array({{{"gang", "b"}, {"otherGang", "c"}}})}}});
  advice = Only(json::array({profile}));
  EXPECT_DOUBLE_EQ(advice["gpuHours"], 8);
  EXPECT_TRUE(advice["pairs"].empty());
}

// The run's key changed as more of its pods were known, so two profiles tell of it.
TEST(AdviceTest, ARunThatTwoProfilesTellOfCountsOnce) {
  json part = Ran("a", "08:00", "10:00", 0);
  part["gpus"] = 1;
  const json first = Profile("team", json::array({part}));
  const json whole = Profile("team", json::array({Ran("a", "08:00", "12:00")}));
  for (const json& profiles :
       {json::array({first, whole}), json::array({whole, first}), json::array({whole, whole})}) {
    const json advice = Only(profiles);
    EXPECT_DOUBLE_EQ(advice["gpuHours"], 8);
    EXPECT_DOUBLE_EQ(advice["knownGPUHours"], 8);
    EXPECT_TRUE(advice["pairs"].empty()) << "with itself";
  }
  part["shared"] = true;
  EXPECT_TRUE(AdviceOf(json::array({Profile("team", json::array({part})), whole}), 0)["namespaces"].empty())
      << "as one of them says";
  EXPECT_DOUBLE_EQ(
      Only(json::array({Profile(
          "team", json::array({Ran("a", "08:00", "12:00"), Ran("a", "13:00", "14:00")}))}))["gpuHours"],
      10)
      << "the control: two runs of one gang";
}

TEST(AdviceTest, AGangIsNoPairWithItself) {
  const json advice = Only(json::array({Profile("team", json::array({Ran("a", "08:00", "12:00")})),
                                        Profile("team", json::array({Ran("a", "08:01", "12:00")}))}));
  EXPECT_TRUE(advice["pairs"].empty());
  EXPECT_EQ(advice["savedGPUHours"], 0);
}

TEST(AdviceTest, WhatIsNotKnownOfARunItsProfileMaySay) {
  const json runs = json::array({Ran("a", "08:00", "12:00", 0), Ran("b", "08:00", "12:00", 0)});
  json profile = Profile("team", runs);
  json advice = Only(json::array({profile}));
  EXPECT_EQ(advice["knownGPUHours"], 0);
  EXPECT_THAT(AdviceText({{"namespaces", json::array({advice})}}, false),
              HasSubstr("took no turns, or too few"));
  profile["spec"] = {{"computeSeconds", 0.02}, {"exposedSeconds", 0.012}};
  advice = Only(json::array({profile}));
  EXPECT_DOUBLE_EQ(advice["knownGPUHours"], 16);
  EXPECT_GT(advice["savedGPUHours"], 5);
  const std::string wide = AdviceText({{"namespaces", json::array({advice})}}, true);
  EXPECT_THAT(wide, HasSubstr("a and b: 1.57x, 5.8 GPU hours, last seen at 2027-01-15T"));
  EXPECT_THAT(wide, Not(HasSubstr("took no turns, or too few")));
}

TEST(AdviceTest, LooksNoFurtherBackThanItIsTo) {
  const json profiles =
      json::array({Profile("team", json::array({Ran("a", "08:00", "12:00"), Ran("b", "08:00", "12:00")}))});
  EXPECT_DOUBLE_EQ(Only(profiles, 1'800'007'200)["gpuHours"], 8) << "from 10:00 on";
  EXPECT_TRUE(AdviceOf(profiles, 1'900'000'000)["namespaces"].empty());
  EXPECT_THAT(AdviceText(AdviceOf(profiles, 1'900'000'000), false), HasSubstr("no JobProfile has a run"));
}

json Slow(json run, const char* pod, double compute, const char* since = "2027-01-15T08:30:00Z") {
  run["medianSeconds"] = 0.02;
  run["slowest"] = {{"pod", pod}, {"node", "n7"}, {"computeSeconds", compute}};
  if (since != nullptr) run["slowest"]["since"] = since;
  return run;
}

TEST(AdviceTest, ASlowRankIsNamedWithWhatItCosts) {
  const json profiles =
      json::array({Profile("team", json::array({Slow(Ran("team/a", "08:00", "12:00"), "a-3", 0.0280)}))});
  const json slow = Only(profiles)["slowRanks"];
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["pod"], "a-3");
  EXPECT_DOUBLE_EQ(slow[0]["partOfStep"], 0.25) << "8 of 32 ms";
  EXPECT_THAT(
      AdviceText(AdviceOf(profiles, 0), false),
      HasSubstr("team/a: pod a-3 on node n7 computes for 28.0 ms in an iteration, and half of the ranks for "
                "20.0 ms at most, since 2027-01-15T08:30:00Z. It costs 25% of each step of all ranks. Its "
                "run was last seen "
                "at 2027-01-15T12:00:00Z.\n"));
}

json Waiting(json run, const char* pod, double seconds) {
  run["inputWait"] = {{"pod", pod}, {"node", "n7"}, {"seconds", seconds}};
  return run;
}

TEST(AdviceTest, ARankThatWaitsForItsInputIsNamedWithWhatItCosts) {
  const json profiles =
      json::array({Profile("team", json::array({Waiting(Ran("a", "08:00", "12:00"), "a-3", 0.0040),
                                                Waiting(Ran("team/b", "08:00", "12:00"), "b-0", 0.0080),
                                                Waiting(Ran("c", "08:00", "12:00"), "c-0", 0.0009)}))});
  const json waits = Only(profiles)["inputWaits"];
  ASSERT_EQ(waits.size(), 2u) << "of 32 ms, less than 3% is not told: " << waits;
  EXPECT_EQ(waits[0]["pod"], "b-0") << "the costliest comes first";
  EXPECT_DOUBLE_EQ(waits[1]["partOfStep"], 0.125);
  EXPECT_THAT(
      AdviceText(AdviceOf(profiles, 0), false),
      HasSubstr(
          "\nRanks that wait for input:\nteam/b: pod b-0 on node n7 launches nothing for 8.0 ms of "
          "an iteration: it waits for input, or computes on the host. It costs up to 25% of each step of all "
          "ranks. Its run was last seen at 2027-01-15T12:00:00Z.\n"));
}

TEST(AdviceTest, TheLatestRunOfEachGangCountsTheCostliestFirst) {
  json shared = Slow(Ran("b", "08:00", "12:00"), "b-1", 0.0300);
  shared["shared"] = true;
  const json profiles =
      json::array({Profile("team", json::array({Slow(Ran("a", "08:00", "09:00"), "a-0", 0.0290),
                                                Slow(Ran("a", "10:00", "12:00"), "a-1", 0.0220), shared,
                                                Slow(Ran("c", "08:00", "09:00"), "c-0", 0.0290),
                                                Slow(Ran("c", "10:00", "12:00"), "c-0", 0.0205, nullptr)}))});
  const json slow = Only(profiles)["slowRanks"];
  ASSERT_EQ(slow.size(), 2u) << slow;
  EXPECT_EQ(slow[0]["pod"], "b-1") << "jobs that share have slow ranks, too";
  EXPECT_EQ(slow[1]["pod"], "a-1");
  EXPECT_THAT(AdviceText(AdviceOf(profiles, 1.9e9), false), Not(HasSubstr("Slow ranks")));
}

TEST(AdviceTest, ObjectsMayBeAnything) {
  EXPECT_TRUE(
      AdviceOf(json::array({7, {{"status", {{"runs", {1, "x"}}}}}, nullptr}), 0)["namespaces"].empty());
  EXPECT_TRUE(AdviceOf(json(), 0)["namespaces"].empty());
}

}  // namespace
}  // namespace crossover::cli
