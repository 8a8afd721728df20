#include "extender/gang/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/annotations/rules.h"
#include "tests/unit/extender/gang/made_profile.h"

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;

Pod PodWith(Labels annotations, int slots = 1) {
  Pod pod;
  pod.name_space = "team";
  pod.name = "pod";
  pod.created_s = 100;
  pod.annotations = std::move(annotations);
  Container container;
  container.name = "main";
  container.slots = slots;
  pod.containers = {container};
  return pod;
}

Request Of(const std::vector<Pod>& pods, const ClusterCache& cache = {}) {
  std::vector<const Pod*> members;
  for (const Pod& pod : pods) members.push_back(&pod);
  Membership membership;
  membership.id = "team/gang/g";
  membership.name = "g";
  return RequestOf(membership, members, static_cast<int>(pods.size()), cache);
}

TEST(GangRequest, ReadsWhatTheUserSays) {
  const Pod pod = PodWith({{"crossover.dev/share", "true"},
                           {"crossover.dev/share-with", "cluster"},
                           {"crossover.dev/gpu-memory", "20Gi"},
                           {"crossover.dev/max-slowdown", "1.5"},
                           {"crossover.dev/turn-priority", "high"}},
                          2);
  const Request request = Of({pod, pod});
  EXPECT_EQ(request.fault, "");
  EXPECT_EQ(request.gang.pods, 2);
  EXPECT_EQ(request.gang.gpus_per_pod, 2);
  EXPECT_EQ(request.gang.consent, placement::Consent::kCluster);
  EXPECT_EQ(request.gang.memory_cap, std::uint64_t{20} << 30);
  EXPECT_EQ(request.gang.max_slowdown, 1.5);
  EXPECT_EQ(request.gang.priority, placement::Priority::kHigh);
  EXPECT_FALSE(request.gang.exclusive);
  EXPECT_EQ(request.gang.arrived_s, 100);
  Pod later = pod;
  later.created_s = 200;
  EXPECT_EQ(Of({pod, later, pod}).gang.arrived_s, 200) << "before that it waits for its own";
}

TEST(GangRequest, ItsRankIsThatOfItsLeastPod) {
  Pod high = PodWith({}), low = PodWith({});
  high.priority = 1000, low.priority = -5;
  EXPECT_EQ(Of({high, high}).gang.rank, 1000);
  EXPECT_EQ(Of({high, low}).gang.rank, -5);
  EXPECT_EQ(Of({low, high}).gang.rank, -5);
  EXPECT_EQ(Of({high, low}).fault, "");
  EXPECT_TRUE(Of({high, low}).gang.preempts);
  low.preempts = false;
  EXPECT_FALSE(Of({high, low}).gang.preempts);
  low.over = true;
  EXPECT_EQ(Of({high, low}).gang.rank, 1000) << "it has done its work";
  EXPECT_TRUE(Of({high, low}).gang.preempts);
  EXPECT_EQ(Of({low}).gang.rank, -5);
}

TEST(GangRequest, ExclusiveAndDefaults) {
  EXPECT_TRUE(Of({PodWith({{"crossover.dev/share", "exclusive"}})}).gang.exclusive);
  const placement::Gang gang = Of({PodWith({})}).gang;
  EXPECT_EQ(gang.consent, placement::Consent::kNamespace);
  EXPECT_EQ(gang.memory_cap, 0u);
  EXPECT_FALSE(gang.profile.known());
}

TEST(GangRequest, WhichUsersItsPodsHave) {
  using placement::Users;
  Pod pod = PodWith({});
  pod.user = 1000;
  EXPECT_EQ(Of({pod, pod}).gang.uid, 1000u);
  EXPECT_EQ(Of({pod, pod}).gang.users, Users::kOne);
  Pod other = pod;
  other.user = 2000;
  EXPECT_EQ(Of({pod, other}).gang.users, Users::kUnlike);
  other = pod;
  other.own_users = true;
  EXPECT_EQ(Of({pod, other}).gang.users, Users::kOwn);
  other.several_users = true;
  EXPECT_EQ(Of({pod, other}).gang.users, Users::kMixed);
  other = PodWith({});
  Pod root = other;
  root.user = 0;
  EXPECT_EQ(Of({other, root}).gang.users, Users::kOne) << "the image's user is taken for root";
}

TEST(GangRequest, ProfileIsOfItsKeyAndNamespace) {
  ClusterCache cache;
  cache.Put(MadeProfile("bert"));
  Pod pod = PodWith({});
  pod.profile_key = "bert";
  const Request request = Of({pod}, cache);
  EXPECT_EQ(request.gang.key, "team/bert");
  EXPECT_EQ(request.gang.profile.source, placement::Source::kMeasured);
  EXPECT_EQ(request.gang.profile.exposed_s, 2);
  pod.profile_key = "gpt";
  EXPECT_FALSE(Of({pod}, cache).gang.profile.known());
}

TEST(GangRequest, AUsualLinkCarriesWhatTheJobSends) {
  ClusterCache cache;
  JobProfile profile = MadeProfile("bert");
  profile.link_bytes = 1e9;
  cache.Put(profile);
  Pod pod = PodWith({});
  pod.profile_key = "bert";
  EXPECT_EQ(Of({pod}, cache).gang.profile.link_s, 0) << "no node tells the speed of its link";
  for (const auto& [name, link] : {std::pair("a", 4e9), std::pair("b", 2e9), std::pair("c", 0.0)}) {
    GpuNode node;
    node.name = name;
    node.link_bytes_per_s = link;
    cache.Put(node);
  }
  EXPECT_EQ(Of({pod}, cache).gang.profile.link_s, 0.5);
}

TEST(GangRequest, PodsHaveWhatTheyWereGrantedWhateverIsKnownByNow) {
  ClusterCache cache;
  const JobProfile profile = MadeProfile("bert", std::uint64_t{30} << 30);
  cache.Put(profile);
  Pod pod = PodWith({{"crossover.dev/status-gpu-memory", "1073741824"}});
  pod.profile_key = "bert";
  EXPECT_EQ(Of({pod}, cache).gang.memory_cap, 0u) << "of a plan that came to nothing";
  EXPECT_EQ(Of({pod}, cache).gang.profile.peak_memory, profile.peak_memory);
  Pod bound = pod;
  bound.node = "n";
  EXPECT_EQ(Of({pod, bound}, cache).gang.memory_cap, std::uint64_t{1} << 30);
  EXPECT_FALSE(Of({pod, bound}, cache).names_memory);
  bound.annotations.clear();
  const placement::Gang unbounded = Of({pod, bound}, cache).gang;
  EXPECT_EQ(unbounded.memory_cap, 0u);
  EXPECT_EQ(unbounded.profile.peak_memory, 0u) << "it runs without a bound: no gang comes beside it";
}

TEST(GangRequest, APodThatIsOverOrOnItsWayOutBindsNoneToWhatItWasGranted) {
  ClusterCache cache;
  const JobProfile profile = MadeProfile("bert", std::uint64_t{30} << 30);
  cache.Put(profile);
  Pod pod = PodWith({});
  pod.profile_key = "bert";
  Pod before = pod;
  before.node = "n";
  for (const bool granted : {false, true}) {
    if (granted) before.annotations = {{"crossover.dev/status-gpu-memory", "1073741824"}};
    Pod failed = before;
    failed.over = failed.failed = true;
    Pod leaving = before;
    leaving.deleting = true;
    const placement::Gang gang = Of({pod, failed, leaving}, cache).gang;
    EXPECT_EQ(gang.memory_cap, 0u);
    EXPECT_EQ(gang.profile.peak_memory, profile.peak_memory) << "by which its plan was made";
  }
}

TEST(GangRequest, MalformedNamesKeyValueAndWhatIsAllowed) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"crossover.dev/share", "yes"},
      {"crossover.dev/share-with", "all"},
      {"crossover.dev/turn-priority", "urgent"},
      {"crossover.dev/max-slowdown", "1"},
      {"crossover.dev/max-slowdown", "11"},
      {"crossover.dev/max-slowdown", "nan"},
      {"crossover.dev/max-slowdown", "2x"},
      {"crossover.dev/gpu-memory", "much"},
      {"crossover.dev/gpu-memory", "1Mi"},
      {"crossover.dev/gpu-memory", "-1Gi"},
  };
  for (const auto& [key, value] : cases) {
    EXPECT_EQ(Of({PodWith({{key, value}})}).fault,
              key + ": expected " + annotations::RuleOf(key)->expected + ", got " + value);
  }
}

// These values are the ends of what admission lets in.
TEST(GangRequest, WhatAdmissionAllowsIsRead) {
  EXPECT_EQ(Of({PodWith({{"crossover.dev/max-slowdown", "1.05"}})}).gang.max_slowdown, 1.05);
  EXPECT_EQ(Of({PodWith({{"crossover.dev/max-slowdown", "10"}})}).gang.max_slowdown, 10);
  EXPECT_EQ(Of({PodWith({{"crossover.dev/gpu-memory", "16Mi"}})}).gang.memory_cap, 16u << 20);
  EXPECT_EQ(Of({PodWith({{"crossover.dev/gpu-memory", "1024Ti"}})}).gang.memory_cap, 1ull << 50);
  EXPECT_EQ(Of({PodWith({{"crossover.dev/gpu-memory", "1024Ti"}})}).fault, "");
}

TEST(GangRequest, MembersMustBeAlike) {
  EXPECT_THAT(Of({PodWith({}, 1), PodWith({}, 2)}).fault, HasSubstr("different numbers of GPUs: "));
  EXPECT_THAT(
      Of({PodWith({{"crossover.dev/gpu-memory", "1Gi"}}), PodWith({{"crossover.dev/gpu-memory", "2Gi"}})})
          .fault,
      HasSubstr("crossover.dev/gpu-memory: expected \"1Gi\", as "));
  EXPECT_THAT(Of({PodWith({{"crossover.dev/shrink", "bf16"}}), PodWith({})}).fault,
              HasSubstr("crossover.dev/shrink: expected \"bf16\", as "));
}

}  // namespace
}  // namespace crossover::extender
