#include "extender/cluster/cluster_cache.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extender/cluster/resources.h"
#include "tests/unit/common/api/golden_gpu_nodes.h"
#include "tests/unit/common/api/golden_profiles.h"

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

TEST(ClusterCacheTest, SaysWhetherAnythingChanged) {
  ClusterCache cache;
  Pod pod = PodOn("u", "", 1);
  pod.version = "1";
  EXPECT_TRUE(cache.Put(pod));
  EXPECT_FALSE(cache.Put(pod));
  pod.version = "2";
  EXPECT_FALSE(cache.Put(pod));
  EXPECT_EQ(cache.FindPod("u")->version, "2") << "writes go by it";
  pod.annotations["a"] = "b";
  EXPECT_TRUE(cache.Put(pod));
  Node node;
  node.name = "n";
  EXPECT_TRUE(cache.Put(node));
  EXPECT_FALSE(cache.Put(node));
  node.cordoned = true;
  EXPECT_TRUE(cache.Put(node));
  EXPECT_TRUE(cache.FindNode("n")->cordoned);
  GpuNode gpus;
  gpus.name = "n";
  EXPECT_TRUE(cache.Put(gpus));
  EXPECT_FALSE(cache.Put(gpus));
  gpus.gpus.push_back(
      {.uuid = "GPU-a", .memory = 1, .slots = 2, .healthy = true, .withheld = {}, .holders = {}});
  EXPECT_TRUE(cache.Put(gpus));
  EXPECT_TRUE(cache.RemovePod("u") && cache.RemoveNode("n") && cache.RemoveGpuNode("n"));
  EXPECT_FALSE(cache.RemovePod("u") || cache.RemoveNode("n") || cache.RemoveGpuNode("n"));
  EXPECT_EQ(cache.FindPod("u"), nullptr);
}

TEST(ClusterCacheTest, BudgetsComeAndGo) {
  ClusterCache cache;
  Budget budget{.name_space = "ns", .name = "b", .selector = {}, .allowed = 1};
  EXPECT_TRUE(cache.Put(budget));
  EXPECT_FALSE(cache.Put(budget));
  budget.allowed = 2;
  EXPECT_TRUE(cache.Put(budget));
  EXPECT_EQ(cache.budgets().at("ns/b").allowed, 2);
  EXPECT_FALSE(cache.RemoveBudget("ns", "other"));
  EXPECT_TRUE(cache.RemoveBudget("ns", "b"));
  EXPECT_TRUE(cache.budgets().empty());
}

TEST(ClusterCacheTest, WhatOurPodsUseFollowsThem) {
  ClusterCache cache;
  const auto cpu = [&](const char* node) { return cache.UsedOn(node).milli_cpu; };
  const auto pods = [&](const char* node) { return Amount(cache.UsedOn(node), kPods); };
  cache.Put(PodOn("a", "n1", 1000));
  cache.Put(PodOn("b", "n1", 500));
  cache.Put(PodOn("c", "", 4000));  // not bound yet
  EXPECT_EQ(cpu("n1"), 1500);
  EXPECT_EQ(pods("n1"), 2);
  EXPECT_EQ(Amount(cache.UsedOn("n1"), "x"), 2);
  cache.Put(PodOn("b", "n1", 700));
  EXPECT_EQ(cpu("n1"), 1700);
  cache.Put(PodOn("c", "n2", 4000));
  EXPECT_EQ(cpu("n2"), 4000);
  Pod over = PodOn("a", "n1", 1000);
  over.over = true;
  cache.Put(over);
  EXPECT_EQ(cpu("n1"), 700);
  cache.Put(over);
  EXPECT_EQ(pods("n1"), 1);
  cache.RemovePod("a");
  cache.RemovePod("b");
  EXPECT_EQ(cache.UsedOn("n1"), Resources{});
}

TEST(ClusterCacheTest, WhatIsTooMuchLeavesNothingBehind) {
  ClusterCache cache;
  cache.Put(PodOn("a", "n", INT64_MAX));
  cache.Put(PodOn("b", "n", INT64_MAX));
  EXPECT_EQ(cache.UsedOn("n").milli_cpu, INT64_MAX);
  cache.RemovePod("a");
  EXPECT_EQ(cache.UsedOn("n").milli_cpu, INT64_MAX);
  cache.Put(PodOn("b", "n", 5));
  EXPECT_EQ(cache.UsedOn("n").milli_cpu, 5);
}

TEST(ClusterCacheTest, ACopyStandsAlone) {
  ClusterCache cache;
  cache.Put(PodOn("a", "n", 1));
  cache.Put(PodOn("b", "n", 2));
  ClusterCache copy = cache;
  cache.RemovePod("a");
  cache.RemovePod("b");
  copy.RemovePod("a");
  EXPECT_EQ(copy.UsedOn("n").milli_cpu, 2);
}

TEST(ClusterCacheTest, TheUsualLinkIsTheMedianOfTheNodes) {
  ClusterCache cache;
  const auto put = [&cache](const std::string& name, double link) {
    GpuNode node;
    node.name = name;
    node.link_bytes_per_s = link;
    cache.Put(std::move(node));
    return cache.UsualLink();
  };
  EXPECT_EQ(put("unknown", 0), 0);
  EXPECT_EQ(put("a", 5), 5);
  EXPECT_EQ(put("b", 3), 3);
  EXPECT_EQ(put("c", 3), 3);
  cache.RemoveGpuNode("b");
  EXPECT_EQ(cache.UsualLink(), 3) << "c has the same";
  EXPECT_EQ(put("c", 9), 5);
  EXPECT_EQ(put("wrong", 1), 5) << "one of three";
  cache.RemoveGpuNode("wrong");
  cache.RemoveGpuNode("b");
  cache.RemoveGpuNode("a");
  cache.RemoveGpuNode("c");
  EXPECT_EQ(cache.UsualLink(), 0);
}

TEST(ClusterCacheTest, APodWithALevelHasTheProfileOfRunsWithoutAtFirst) {
  ClusterCache cache;
  Pod pod;
  pod.name_space = "ns";
  pod.profile_key = "key+q8";
  EXPECT_EQ(cache.FindProfileOf(pod), nullptr);
  cache.Put(Profile("plain", "key"));
  EXPECT_EQ(cache.FindProfileOf(pod)->name, "plain");
  cache.Put(Profile("narrow", "key+q8"));
  EXPECT_EQ(cache.FindProfileOf(pod)->name, "narrow");
  pod.profile_key = "key+bf16";
  EXPECT_EQ(cache.FindProfileOf(pod)->name, "plain");
  pod.profile_key = "key+other";
  EXPECT_EQ(cache.FindProfileOf(pod), nullptr);
}

TEST(ClusterCacheTest, ProfilesAreFoundByKey) {
  ClusterCache cache;
  cache.Put(Profile("b", "key"));
  cache.Put(Profile("a", "key"));
  EXPECT_EQ(cache.FindProfile("ns", "key")->name, "a");
  EXPECT_EQ(cache.FindProfile("other", "key"), nullptr);
  EXPECT_TRUE(cache.Put(Profile("a", "another")));
  EXPECT_EQ(cache.FindProfile("ns", "key")->name, "b");
  EXPECT_EQ(cache.FindProfile("ns", "another")->name, "a");
  EXPECT_FALSE(cache.Put(Profile("a", "another")));
  EXPECT_TRUE(cache.RemoveProfile("ns", "b"));
  EXPECT_FALSE(cache.RemoveProfile("ns", "b"));
  EXPECT_EQ(cache.FindProfile("ns", "key"), nullptr);
  EXPECT_EQ(cache.profiles().size(), 1u);
}

TEST(ClusterCacheTest, WhatNothingDecidesByIsNotKept) {
  ClusterCache cache;
  EXPECT_TRUE(cache.Put(api::GoldenGpuNode()));
  GpuNode later = api::GoldenGpuNode();
  later.version = "1.3";
  later.mode_limited_by = later.sharing_reason = later.configuration = later.node_uid = "another";
  later.mps_served.reset();
  later.gpus[0].notes.Edit().no_turns = "another";
  later.gpus[1].notes.Edit().reason = "another";
  later.gpus[0].notes.Edit().signals.reset();
  later.gpus[0].holders[0].gang = "another";
  later.jobs[0].gang_size = 9;
  later.jobs[1].source = "measured";
  EXPECT_FALSE(cache.Put(later));
  later.gpus[0].healthy = false;
  EXPECT_TRUE(cache.Put(later));
  Node node{.name = "n1"};
  EXPECT_TRUE(cache.Put(node));
  node.annotations["crossover.dev/mode"] = node.runtime = node.os_image = "another";
  EXPECT_FALSE(cache.Put(node));
}

TEST(ClusterCacheTest, KnowsOfEachProfileWhatPlacementUses) {
  for (const api::BrokenProfile& twin : api::kBrokenProfiles) {
    const auto profile = api::ParseJobProfile(api::Broken(twin));
    if (!profile) continue;
    ClusterCache cache;
    cache.Put(*profile);
    const JobProfile* known = cache.FindProfile("team", twin.key);
    ASSERT_NE(known, nullptr) << twin.patch;
    EXPECT_EQ(known->meetings.size(), twin.meetings) << twin.patch;
    EXPECT_TRUE(known->runs.empty()) << twin.patch;
    for (const JobProfile::Meeting& meeting : known->meetings)
      EXPECT_TRUE(meeting.gains.empty()) << twin.patch;
  }
}

TEST(ClusterCacheTest, AProfileWhoseHistoryAloneChangedIsTheSame) {
  JobProfile profile = api::ParseJobProfile(json::parse(api::kGoldenMeasured)).value();
  ClusterCache cache;
  EXPECT_TRUE(cache.Put(profile));
  profile.runs[0].at_s += 1;
  profile.meetings[0].gains.clear();
  EXPECT_FALSE(cache.Put(profile));
  profile.meetings[0].gain += 1;
  EXPECT_TRUE(cache.Put(profile));
}

TEST(ClusterCacheTest, OfCommunicationItKeepsWhatEnoughRunsAgreeIn) {
  JobProfile profile = Profile("a", "key");
  profile.communication = {.pods = 2,
                           .runs = 1,
                           .gang = "ns/g",
                           .began_s = 1e9,
                           .groups = {{NcclFunction::kAllReduce, {0, 1}, 100}}};
  ClusterCache cache;
  cache.Put(profile);
  EXPECT_EQ(cache.FindProfile("ns", "key")->communication, Communication{});
  profile.communication.runs = 2;
  EXPECT_TRUE(cache.Put(profile));
  EXPECT_EQ(cache.FindProfile("ns", "key")->communication.groups, profile.communication.groups);
  profile.communication.runs = 3;
  profile.communication.gang = "ns/h";
  profile.communication.began_s = 2e9;
  EXPECT_FALSE(cache.Put(profile)) << "one more run that says the same";
  profile.communication.groups[0].bytes += 1;
  EXPECT_TRUE(cache.Put(profile));
}

TEST(ClusterCacheTest, OfTwoProfilesTheOneWithItsUsersFiguresCounts) {
  ClusterCache cache;
  cache.Put(Profile("a", "key"));
  JobProfile hinted = Profile("b", "key");
  hinted.has_hints = true;
  cache.Put(hinted);
  EXPECT_EQ(cache.FindProfile("ns", "key")->name, "b");
}

}  // namespace
}  // namespace crossover::extender
