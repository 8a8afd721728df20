#include "deviceplugin/pods/pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tests/unit/common/api/golden_pods.h"
#include "tests/unit/common/kube/golden_slots.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

json Object() {
  return json::parse(R"({
    "metadata": {"uid": "u", "namespace": "team", "name": "train-0-x", "creationTimestamp": "2026-01-02T03:04:05Z",
      "annotations": {"crossover.dev/gang": "big", "other.dev/x": "y"},
      "labels": {"batch.kubernetes.io/job-name": "train"}},
    "spec": {
      "initContainers": [{"name": "warm", "resources": {"limits": {"crossover.dev/slot": "2"}}}],
      "containers": [{"name": "main", "resources": {"limits": {"crossover.dev/slot": "1", "cpu": "500m"}}},
                     {"name": "side"}]},
    "status": {"phase": "Running"}})");
}

// Returns what the daemon keeps of the object.
std::optional<Pod> Kept(const json& object) {
  auto read = api::ParsePod(object);
  return read ? std::optional(PodOf(*std::move(read))) : std::nullopt;
}

TEST(PodTest, WhatTheDaemonWantsToKnow) {
  const auto pod = Kept(Object());
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->uid, "u");
  EXPECT_EQ(pod->created_s, 1767323045);
  EXPECT_FALSE(pod->over);
  EXPECT_THAT(pod->annotations, ElementsAre(Pair("crossover.dev/gang", "big"))) << "ours alone";
  ASSERT_EQ(pod->containers.size(), 3u);
  EXPECT_EQ(pod->containers[0].name, "warm");
  EXPECT_EQ(pod->containers[0].slots, 2u);
  EXPECT_EQ(pod->containers[1].slots, 1u);
  EXPECT_EQ(pod->containers[2].slots, 0u);
}

TEST(PodTest, OfEachGoldenPod) {
  for (const api::GoldenPod& golden : api::kGoldenPods) {
    const auto pod = Kept(json::parse(golden.object));
    ASSERT_TRUE(pod) << golden.object;
    EXPECT_EQ(NameOf(*pod), golden.name);
    EXPECT_EQ(GangOf(*pod), golden.gang) << golden.object;
    EXPECT_EQ(pod->controller, golden.controller) << golden.object;
    EXPECT_EQ(pod->controlled, *golden.controller != '\0') << golden.object;
    EXPECT_EQ(pod->containers.size(), golden.containers) << golden.object;
    EXPECT_EQ(pod->over, golden.over) << golden.object;
    EXPECT_EQ(pod->grace_s, golden.deleting ? std::optional(golden.grace_s) : std::nullopt) << golden.object;
    EXPECT_EQ(pod->created_s, golden.created_s) << golden.object;
    EXPECT_EQ(std::ranges::count(pod->containers, true, &PodContainer::own_shm), golden.shm == api::Shm::kOwn)
        << golden.object;
  }
}

TEST(PodTest, OfEachBrokenTwin) {
  for (const api::BrokenPod& twin : api::kBrokenPods) {
    const auto pod = Kept(api::Broken(twin));
    ASSERT_EQ(pod.has_value(), twin.is_pod) << twin.patch;
    if (!pod) continue;
    EXPECT_EQ(GangOf(*pod), twin.gang) << twin.patch;
    EXPECT_EQ(pod->controller, twin.controller) << twin.patch;
    EXPECT_EQ(pod->containers.size(), twin.containers) << twin.patch;
    EXPECT_EQ(pod->grace_s, twin.deleting ? std::optional(twin.grace_s) : std::nullopt) << twin.patch;
    EXPECT_TRUE(pod->managed || std::string(twin.patch).find("labels\": \"") != std::string::npos)
        << twin.patch;
  }
}

TEST(PodTest, AThousandSlotsAsAnApiServerWritesThem) {
  json object = Object();
  object["spec"]["containers"] =
      json::parse(R"([{"name": "main", "resources": {"limits": {"crossover.dev/slot": "1k"}}}])");
  EXPECT_EQ(Kept(object)->containers.back().slots, 1000u);
}

TEST(PodTest, SlotsOfEachGoldenContainer) {
  for (const kube::GoldenSlots& golden : kube::kGoldenSlots) {
    const auto pod = Kept(kube::PodWith(golden));
    ASSERT_TRUE(pod);
    EXPECT_EQ(static_cast<std::int64_t>(pod->containers.at(0).slots), golden.slots) << golden.resources;
  }
}

TEST(PodTest, WhichContainersBringAVolumeForShm) {
  json object = Object();
  object["spec"]["containers"][0]["volumeMounts"] = {{{"name", "x"}, {"mountPath", "/dev//shm/"}}};
  const auto pod = Kept(object);
  ASSERT_EQ(pod->containers.size(), 3u);
  EXPECT_FALSE(pod->containers[0].own_shm);
  EXPECT_TRUE(pod->containers[1].own_shm);
  EXPECT_FALSE(pod->containers[2].own_shm);
}

TEST(PodTest, OneThatHasEnded) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    json object = Object();
    object["status"]["phase"] = phase;
    EXPECT_TRUE(Kept(object)->over) << phase;
  }
}

TEST(PodTest, WhatIsNoneIsNone) {
  for (const char* text : {"null", "3", "{}", R"({"metadata": {"uid": 3, "namespace": "a", "name": "b"}})",
                           R"({"metadata": {"uid": "u", "namespace": "a"}})"}) {
    EXPECT_FALSE(Kept(json::parse(text))) << text;
  }
}

TEST(PodTest, OddPartsAreLeftOut) {
  json object = Object();
  object["metadata"]["annotations"] = 3;
  object["metadata"]["labels"] = nullptr;
  object["spec"]["containers"] =
      json::parse(R"([3, {"resources": {"limits": {"crossover.dev/slot": "half"}}}])");
  object["spec"]["initContainers"] = "x";
  const auto pod = Kept(object);
  ASSERT_TRUE(pod);
  EXPECT_THAT(pod->annotations, IsEmpty());
  ASSERT_EQ(pod->containers.size(), 2u);
  EXPECT_EQ(pod->containers[1].slots, 0u);
}

TEST(GangTest, OfTheAnnotationElseTheOwnerElseThePodAlone) {
  json object = Object();
  EXPECT_EQ(GangOf(*Kept(object)), "team/big");
  object["metadata"]["annotations"].clear();
  EXPECT_EQ(GangOf(*Kept(object)), "team/train");
  object["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] = "set";
  EXPECT_EQ(GangOf(*Kept(object)), "team/set") << "the job is a part of it";
  object["metadata"]["labels"].clear();
  EXPECT_EQ(GangOf(*Kept(object)), "team/train-0-x");
}

TEST(GangTest, NamesThatAreNoneAreMadeOneAndStayApart) {
  const auto named = [](const std::string& name) {
    Pod pod;
    pod.name_space = "team";
    pod.annotations["crossover.dev/gang"] = name;
    return GangOf(pod);
  };
  const std::string longest(300, 'a');
  EXPECT_EQ(named(longest).size(), 127u);
  EXPECT_NE(named(longest), named(longest + "b"));
  EXPECT_THAT(named("a b"), HasSubstr("team/a?b-"));
  EXPECT_NE(named("a b"), named("a?b"));
}

TEST(AssignmentTest, ByContainer) {
  Pod pod;
  pod.annotations["crossover.dev/assignment"] = R"({"containers": {"main": ["GPU-b", "GPU-a"], "side": []}})";
  EXPECT_THAT(AssignmentOf(pod), ElementsAre(Pair("main", ElementsAre("GPU-b", "GPU-a"))));
}

TEST(AssignmentTest, WhatCannotBeReadIsNone) {
  for (const char* text : {"", "{", "[]", R"({"containers": 3})", R"({"containers": {"main": 3}})",
                           R"({"containers": {"main": [3]}})"}) {
    Pod pod;
    pod.annotations["crossover.dev/assignment"] = text;
    EXPECT_THAT(AssignmentOf(pod), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
