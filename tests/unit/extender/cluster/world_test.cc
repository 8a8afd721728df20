#include "extender/cluster/world.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extender/cluster/parse.h"
#include "extender/cluster/resources.h"
#include "tests/unit/extender/cluster/golden_profiles.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

Pod PodOn(const std::string& uid, const std::string& node, std::int64_t milli_cpu) {
  Pod pod;
  pod.uid = uid;
  pod.node = node;
  pod.requests.milli_cpu = milli_cpu;
  pod.requests.others["x"] = 1;
  return pod;
}
JobProfile Profile(const std::string& name, const std::string& key) {
  JobProfile profile;
  profile.name_space = "ns";
  profile.name = name;
  profile.key = key;
  return profile;
}

TEST(WorldTest, SaysWhetherAnythingChanged) {
  World world;
  Pod pod = PodOn("u", "", 1);
  pod.version = "1";
  EXPECT_TRUE(world.Put(pod));
  EXPECT_FALSE(world.Put(pod));
  pod.version = "2";
  EXPECT_FALSE(world.Put(pod));
  EXPECT_EQ(world.FindPod("u")->version, "2") << "writes go by it";
  pod.annotations["a"] = "b";
  EXPECT_TRUE(world.Put(pod));
  Node node;
  node.name = "n";
  EXPECT_TRUE(world.Put(node));
  EXPECT_FALSE(world.Put(node));
  node.cordoned = true;
  EXPECT_TRUE(world.Put(node));
  EXPECT_TRUE(world.FindNode("n")->cordoned);
  GpuNode gpus;
  gpus.name = "n";
  EXPECT_TRUE(world.Put(gpus));
  EXPECT_FALSE(world.Put(gpus));
  gpus.gpus.push_back(
      {.uuid = "GPU-a", .memory = 1, .slots = 2, .healthy = true, .withheld = {}, .holders = {}});
  EXPECT_TRUE(world.Put(gpus));
  EXPECT_TRUE(world.RemovePod("u") && world.RemoveNode("n") && world.RemoveGpuNode("n"));
  EXPECT_FALSE(world.RemovePod("u") || world.RemoveNode("n") || world.RemoveGpuNode("n"));
  EXPECT_EQ(world.FindPod("u"), nullptr);
}

TEST(WorldTest, BudgetsComeAndGo) {
  World world;
  Budget budget{.name_space = "ns", .name = "b", .selector = {}, .allowed = 1};
  EXPECT_TRUE(world.Put(budget));
  EXPECT_FALSE(world.Put(budget));
  budget.allowed = 2;
  EXPECT_TRUE(world.Put(budget));
  EXPECT_EQ(world.budgets().at("ns/b").allowed, 2);
  EXPECT_FALSE(world.RemoveBudget("ns", "other"));
  EXPECT_TRUE(world.RemoveBudget("ns", "b"));
  EXPECT_TRUE(world.budgets().empty());
}

TEST(WorldTest, WhatOurPodsUseFollowsThem) {
  World world;
  const auto cpu = [&](const char* node) { return world.UsedOn(node).milli_cpu; };
  const auto pods = [&](const char* node) { return Amount(world.UsedOn(node), kPods); };
  world.Put(PodOn("a", "n1", 1000));
  world.Put(PodOn("b", "n1", 500));
  world.Put(PodOn("c", "", 4000));  // not bound yet
  EXPECT_EQ(cpu("n1"), 1500);
  EXPECT_EQ(pods("n1"), 2);
  EXPECT_EQ(Amount(world.UsedOn("n1"), "x"), 2);
  world.Put(PodOn("b", "n1", 700));
  EXPECT_EQ(cpu("n1"), 1700);
  world.Put(PodOn("c", "n2", 4000));
  EXPECT_EQ(cpu("n2"), 4000);
  Pod over = PodOn("a", "n1", 1000);
  over.over = true;
  world.Put(over);
  EXPECT_EQ(cpu("n1"), 700);
  world.Put(over);
  EXPECT_EQ(pods("n1"), 1);
  world.RemovePod("a");
  world.RemovePod("b");
  EXPECT_EQ(world.UsedOn("n1"), Resources{});
}

TEST(WorldTest, WhatIsTooMuchLeavesNothingBehind) {
  World world;
  world.Put(PodOn("a", "n", INT64_MAX));
  world.Put(PodOn("b", "n", INT64_MAX));
  EXPECT_EQ(world.UsedOn("n").milli_cpu, INT64_MAX);
  world.RemovePod("a");
  EXPECT_EQ(world.UsedOn("n").milli_cpu, INT64_MAX);
  world.Put(PodOn("b", "n", 5));
  EXPECT_EQ(world.UsedOn("n").milli_cpu, 5);
}

TEST(WorldTest, ACopyStandsAlone) {
  World world;
  world.Put(PodOn("a", "n", 1));
  world.Put(PodOn("b", "n", 2));
  World copy = world;
  world.RemovePod("a");
  world.RemovePod("b");
  copy.RemovePod("a");
  EXPECT_EQ(copy.UsedOn("n").milli_cpu, 2);
}

TEST(WorldTest, ProfilesAreFoundByKey) {
  World world;
  world.Put(Profile("b", "key"));
  world.Put(Profile("a", "key"));
  EXPECT_EQ(world.FindProfile("ns", "key")->name, "a");
  EXPECT_EQ(world.FindProfile("other", "key"), nullptr);
  EXPECT_TRUE(world.Put(Profile("a", "another")));
  EXPECT_EQ(world.FindProfile("ns", "key")->name, "b");
  EXPECT_EQ(world.FindProfile("ns", "another")->name, "a");
  EXPECT_FALSE(world.Put(Profile("a", "another")));
  EXPECT_TRUE(world.RemoveProfile("ns", "b"));
  EXPECT_FALSE(world.RemoveProfile("ns", "b"));
  EXPECT_EQ(world.FindProfile("ns", "key"), nullptr);
  EXPECT_EQ(world.profiles().size(), 1u);
}

TEST(WorldTest, KnowsOfEachProfileWhatPlacementUses) {
  for (const BrokenProfile& twin : kBrokenProfiles) {
    const auto profile = ParseJobProfile(Broken(twin));
    if (!profile) continue;
    World world;
    world.Put(*profile);
    const JobProfile* known = world.FindProfile("team", twin.key);
    ASSERT_NE(known, nullptr) << twin.patch;
    EXPECT_EQ(known->meetings.size(), twin.meetings) << twin.patch;
    EXPECT_TRUE(known->runs.empty()) << twin.patch;
    for (const JobProfile::Meeting& meeting : known->meetings)
      EXPECT_TRUE(meeting.gains.empty()) << twin.patch;
  }
}

TEST(WorldTest, AProfileWhoseHistoryAloneChangedIsTheSame) {
  JobProfile profile = ParseJobProfile(json::parse(kGoldenMeasured)).value();
  World world;
  EXPECT_TRUE(world.Put(profile));
  profile.runs[0].at_s += 1;
  profile.meetings[0].gains.clear();
  EXPECT_FALSE(world.Put(profile));
  profile.meetings[0].gain += 1;
  EXPECT_TRUE(world.Put(profile));
}

TEST(WorldTest, OfTwoProfilesTheOneWithItsUsersFiguresCounts) {
  World world;
  world.Put(Profile("a", "key"));
  JobProfile hinted = Profile("b", "key");
  hinted.has_hints = true;
  world.Put(hinted);
  EXPECT_EQ(world.FindProfile("ns", "key")->name, "b");
}

}  // namespace
}  // namespace crossover::extender
