#include "common/api/pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/common/api/golden.h"
#include "tests/unit/common/api/golden_pods.h"
#include "tests/unit/common/kube/golden_slots.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

json Pod1() {
  return json::parse(R"({"metadata":{"uid":"u","namespace":"ns","name":"p"},"spec":{},"status":{}})");
}
Pod Parsed(const json& object) { return ParsePod(object).value(); }

TEST(ParsePodTest, SlotsOfEachGoldenContainer) {
  for (const kube::GoldenSlots& golden : kube::kGoldenSlots)
    EXPECT_EQ(Parsed(kube::PodWith(golden)).slots(), golden.slots) << golden.resources;
}

std::string ControllerOf(const Pod& pod) { return pod.owner ? pod.owner->kind + "/" + pod.owner->name : ""; }

TEST(ParsePodTest, EachGoldenPod) {
  for (const GoldenPod& golden : kGoldenPods) {
    const Pod pod = Parsed(json::parse(golden.object));
    EXPECT_EQ(pod.name_space + "/" + pod.name, golden.name) << golden.object;
    EXPECT_EQ(pod.node, golden.node) << golden.object;
    EXPECT_EQ(ControllerOf(pod), golden.controller) << golden.object;
    EXPECT_EQ(pod.containers.size(), golden.containers) << golden.object;
    EXPECT_EQ(pod.slots(), golden.slots) << golden.object;
    EXPECT_EQ(pod.shm, golden.shm) << golden.object;
    EXPECT_EQ(pod.over, golden.over) << golden.object;
    EXPECT_EQ(pod.deleting, golden.deleting) << golden.object;
    EXPECT_EQ(pod.grace_s, golden.grace_s) << golden.object;
    EXPECT_EQ(pod.created_s, golden.created_s) << golden.object;
  }
}

TEST(ParsePodTest, EachBrokenTwin) {
  for (const BrokenPod& twin : kBrokenPods) {
    const auto pod = ParsePod(Broken(twin));
    ASSERT_EQ(pod.has_value(), twin.is_pod) << twin.patch;
    if (!pod) continue;
    EXPECT_EQ(ControllerOf(*pod), twin.controller) << twin.patch;
    EXPECT_EQ(pod->containers.size(), twin.containers) << twin.patch;
    EXPECT_EQ(pod->slots(), twin.slots) << twin.patch;
    EXPECT_EQ(pod->shm, twin.shm) << twin.patch;
    EXPECT_EQ(pod->deleting, twin.deleting) << twin.patch;
    EXPECT_EQ(pod->grace_s, twin.grace_s) << twin.patch;
    EXPECT_EQ(pod->created_s, twin.created_s) << twin.patch;
    EXPECT_FALSE(pod->over) << twin.patch;
  }
}

TEST(ParsePodTest, AsARealServerSendsIt) {
  const Pod pod = Parsed(json::parse(kGoldenPod));
  EXPECT_EQ(pod.uid, "784f3fbc-4ed9-4d22-8b78-523e4b79f042");
  EXPECT_EQ(pod.name_space, "default");
  EXPECT_EQ(pod.name, "train-1");
  EXPECT_EQ(pod.version, "220");
  EXPECT_EQ(pod.created_s, 1795225485);
  EXPECT_THAT(pod.annotations, ElementsAre(Pair("crossover.dev/gang", "job-a")));
  EXPECT_EQ(pod.scheduler, "default-scheduler");
  EXPECT_EQ(pod.node, "");
  EXPECT_EQ(pod.slots(), 1);
  EXPECT_THAT(pod.requests.others, ElementsAre(Pair("crossover.dev/slot", 1)));
  EXPECT_EQ(pod.tolerations.size(), 2u);
  EXPECT_EQ(pod.tolerations[0],
            (Toleration{
                .key = "node.kubernetes.io/not-ready", .effect = "NoExecute", .value = "", .exists = true}));
  EXPECT_FALSE(pod.scheduled.yes);
  EXPECT_EQ(pod.scheduled.reason, "Unschedulable");
  EXPECT_EQ(pod.scheduled.message.substr(0, 8), "0/3 node");
  EXPECT_EQ(pod.scheduled.at_s, 1795225485);
  EXPECT_FALSE(pod.over || pod.running || pod.deleting);
}

TEST(ParsePodTest, WithoutItsNamesItIsNone) {
  for (const char* key : {"uid", "namespace", "name"}) {
    json object = Pod1();
    ASSERT_TRUE(ParsePod(object));
    object["metadata"].erase(key);
    EXPECT_FALSE(ParsePod(object)) << key;
    object["metadata"][key] = 7;
    EXPECT_FALSE(ParsePod(object)) << key;
  }
}

TEST(ParsePodTest, WhoMadeItIsWhoControlsIt) {
  json object = Pod1();
  object["metadata"]["ownerReferences"] = json::parse(
      R"([{"kind":"Thing","name":"t","uid":"1"},
          {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"2","controller":true}])");
  EXPECT_EQ(Parsed(object).owner, (Owner{.api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "2"}));
  object["metadata"]["ownerReferences"][1]["controller"] = false;
  EXPECT_FALSE(Parsed(object).owner);
}

TEST(ParsePodTest, PhasesAndEnds) {
  json object = Pod1();
  object["status"]["phase"] = "Running";
  object["spec"]["nodeName"] = "n1";
  object["metadata"]["deletionTimestamp"] = "2026-11-21T01:44:45Z";
  EXPECT_TRUE(Parsed(object).running);
  EXPECT_TRUE(Parsed(object).deleting);
  EXPECT_EQ(Parsed(object).node, "n1");
  for (const char* phase : {"Succeeded", "Failed"}) {
    object["status"]["phase"] = phase;
    EXPECT_TRUE(Parsed(object).over) << phase;
  }
}

// Containers that run one after the other use the same slot. A sidecar keeps its own slot.
TEST(ParsePodTest, SlotsOfContainersThatComeOneAfterTheOther) {
  json object = Pod1();
  object["spec"] = json::parse(R"({
    "initContainers":[
      {"name":"fetch","resources":{"limits":{"crossover.dev/slot":"4"}}},
      {"name":"log","restartPolicy":"Always","resources":{"limits":{"crossover.dev/slot":"1"}}},
      {"name":"warm","resources":{"limits":{"crossover.dev/slot":2}}}],
    "containers":[{"name":"a","resources":{"limits":{"crossover.dev/slot":"1"}}},
                  {"name":"b","resources":{"limits":{"crossover.dev/slot":"1"}}}]})");
  EXPECT_EQ(Parsed(object).slots(), 4);
  const auto containers = Parsed(object).containers;
  ASSERT_EQ(containers.size(), 5u);
  EXPECT_TRUE(containers[0].init && !containers[0].sidecar);
  EXPECT_TRUE(containers[1].init && containers[1].sidecar);
  EXPECT_FALSE(containers[3].init);
  object["spec"]["initContainers"][2]["resources"]["limits"]["crossover.dev/slot"] = 5;
  EXPECT_EQ(Parsed(object).slots(), 6) << "beside the sidecar that runs by then";
  object["spec"]["containers"][0]["resources"]["limits"]["crossover.dev/slot"] = 9;
  EXPECT_EQ(Parsed(object).slots(), 11);
}

TEST(ParsePodTest, AsksForWhatASchedulerCounts) {
  json object = Pod1();
  object["spec"] = json::parse(R"({
    "overhead":{"cpu":"250m"},
    "initContainers":[{"name":"i","resources":{"requests":{"cpu":"3","memory":"1Gi"}}},
                      {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}}],
    "containers":[{"name":"a","resources":{"requests":{"cpu":1,"memory":"2Gi","x.y/z":"3"}}}]})");
  const kube::Requests requests = Parsed(object).requests;
  EXPECT_EQ(requests.milli_cpu, 3250);
  EXPECT_EQ(requests.memory_bytes, 2LL << 30);
  EXPECT_THAT(requests.others, ElementsAre(Pair("x.y/z", 3)));
}

TEST(ParsePodTest, UserOfTheContainersWithSlots) {
  json object = Pod1();
  object["spec"] = json::parse(R"({"securityContext":{"runAsUser":1000},
    "containers":[{"name":"proxy","securityContext":{"runAsUser":1337}},
                  {"name":"a","resources":{"limits":{"crossover.dev/slot":"1"}}}]})");
  EXPECT_EQ(Parsed(object).user, 1000u);
  object["spec"]["containers"][1]["securityContext"]["runAsUser"] = 0;
  EXPECT_EQ(Parsed(object).user, 0u);
  object["spec"]["containers"][0]["resources"]["limits"]["crossover.dev/slot"] = "1";
  EXPECT_FALSE(Parsed(object).user) << "they differ";
  EXPECT_TRUE(Parsed(object).several_users);
  EXPECT_FALSE(Parsed(object).own_users) << "they are not the pod's own";
  object["spec"].erase("securityContext");
  object["spec"]["containers"][1].erase("securityContext");
  EXPECT_TRUE(Parsed(object).several_users) << "1337, and the image's";
  object["spec"]["containers"][0]["securityContext"]["runAsUser"] = 0;
  EXPECT_FALSE(Parsed(object).several_users) << "the image's user is taken for root";
  EXPECT_EQ(Parsed(object).user, 0u);
  object["spec"].erase("containers");
  EXPECT_FALSE(Parsed(object).user);
}

TEST(ParsePodTest, WhatItsContainersWithSlotsHaveAtShm) {
  json object = Pod1();
  object["spec"] = json::parse(R"({"containers":[{"name":"plain","volumeMounts":[{"mountPath":"/dev/shm"}]},
    {"name":"a","resources":{"limits":{"crossover.dev/slot":"1"}},"volumeMounts":[{"mountPath":"/dev"}]}]})");
  EXPECT_EQ(Parsed(object).shm, Shm::kUsual);
  json& path = object["spec"]["containers"][1]["volumeMounts"][0]["mountPath"];
  for (const char* own : {"/dev/shm", "/dev/shm/", "/dev//shm", "/dev/./shm"}) {
    path = own;
    EXPECT_EQ(Parsed(object).shm, Shm::kOwn) << own;
  }
  path = "/run/crossover-shm";
  EXPECT_EQ(Parsed(object).shm, Shm::kMoved);
  path = "/dev/shm/inside";
  EXPECT_EQ(Parsed(object).shm, Shm::kUsual);
}

TEST(ParsePodTest, APodWithAUserNamespaceHasUsersOfItsOwn) {
  json object = Pod1();
  object["spec"] = json::parse(R"({"securityContext":{"runAsUser":1000},
    "containers":[{"name":"a","resources":{"limits":{"crossover.dev/slot":"1"}}}]})");
  EXPECT_FALSE(Parsed(object).own_users);
  for (const json& value : {json(true), json(nullptr), json("false"), json(0)}) {
    object["spec"]["hostUsers"] = value;
    EXPECT_FALSE(Parsed(object).own_users) << value;
  }
  object["spec"]["hostUsers"] = false;
  EXPECT_TRUE(Parsed(object).own_users);
  EXPECT_EQ(Parsed(object).user, 1000u) << "inside";
}

TEST(ParsePodTest, WhereItMayGo) {
  json object = Pod1();
  object["spec"] = json::parse(R"({"nodeSelector":{"zone":"a"},
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu","operator":"In","values":["a100","h100"]}],
       "matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n9"]}]},
      {}]}}},
    "tolerations":[{"operator":"Exists"},{"key":"k","operator":"Equal","value":"v"},{"key":"k"},
                   {"key":"k","operator":"Gt","value":"5"}],
    "schedulingGates":[{"name":"crossover.dev/gang"},{"name":"other"}],
    "schedulingGroup":{"podGroupName":"pg"},
    "priority":-7,"preemptionPolicy":"Never"})");
  const Pod pod = Parsed(object);
  EXPECT_THAT(pod.selection.selector, ElementsAre(Pair("zone", "a")));
  EXPECT_EQ(pod.selection.affinity.size(), 2u);
  EXPECT_EQ(pod.tolerations.size(), 3u) << "an operator that is not known tolerates nothing";
  EXPECT_TRUE(pod.tolerations[0].exists);
  EXPECT_FALSE(pod.tolerations[1].exists || pod.tolerations[2].exists);
  EXPECT_THAT(pod.gates, ElementsAre("crossover.dev/gang", "other"));
  EXPECT_EQ(pod.pod_group, "pg");
  EXPECT_EQ(pod.priority, -7);
  EXPECT_FALSE(pod.preempts);
}

TEST(ParsePodTest, KeepsWhatNodesItPrefersWhileOurGateIsOnIt) {
  json object = Pod1();
  object["spec"] =
      json::parse(R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
    [{"weight":5,"preference":{}}]}},"schedulingGates":[{"name":"crossover.dev/gang"}]})");
  EXPECT_EQ(Parsed(object).preferences, R"([{"preference":{},"weight":5}])");
  object["spec"]["schedulingGates"][0]["name"] = "other";
  EXPECT_EQ(Parsed(object).preferences, "");
}

TEST(ParsePodTest, KeepsLittleOfOthersAnnotations) {
  json object = Pod1();
  const std::string much(kLongestOthersAnnotation + 1, 'x');
  object["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", much},
                                       {"crossover.dev/reservation", much},
                                       {"leaderworkerset.sigs.k8s.io/size", "4"},
                                       {"odd", 5}};
  EXPECT_THAT(Parsed(object).annotations,
              UnorderedElementsAre(Pair("crossover.dev/reservation", much),
                                   Pair("leaderworkerset.sigs.k8s.io/size", "4")));
}

TEST(ParsePodTest, LongMessagesAreCutBetweenLetters) {
  json object = Pod1();
  std::string message(kLongestMessage - 1, 'x');
  object["status"]["conditions"] = {
      {{"type", "PodScheduled"}, {"status", "False"}, {"message", message + "\u00e9z"}}};
  EXPECT_EQ(Parsed(object).scheduled.message, message);
}

TEST(ParsePodTest, WhatIsOfAnotherTypeCountsAsNotSet) {
  json object = Pod1();
  object["spec"] = json::parse(R"({"nodeName":5,"containers":{"name":"a"},"tolerations":["x",{"key":[]}],
    "affinity":[],"schedulingGates":[7],"priority":"high","preemptionPolicy":[],"securityContext":3,"nodeSelector":["a"]})");
  object["status"] = json::parse(R"({"phase":{},"conditions":[null,{"type":"PodScheduled","status":true}]})");
  object["metadata"]["labels"] = "none";
  const Pod pod = Parsed(object);
  EXPECT_EQ(pod.node, "");
  EXPECT_EQ(pod.priority, 0);
  EXPECT_TRUE(pod.preempts);
  EXPECT_THAT(pod.containers, IsEmpty());
  EXPECT_THAT(pod.labels, IsEmpty());
  object["spec"] = json::parse(R"({"containers":[{"resources":{"limits":{"crossover.dev/slot":"1e30"}}}],
    "priority":99999999999})");
  EXPECT_EQ(Parsed(object).slots(), 1024);
  EXPECT_EQ(Parsed(object).priority, INT32_MAX);
}

}  // namespace
}  // namespace crossover::api
