#include "extender/cluster/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/common/kube/golden_slots.h"
#include "tests/unit/extender/cluster/golden.h"
#include "tests/unit/extender/cluster/golden_profiles.h"

namespace crossover::extender {
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

TEST(ParseBudgetTest, SaysHowManyPodsMayBeEvicted) {
  const auto parsed = [](const char* text) { return ParseBudget(nlohmann::json::parse(text)); };
  const auto budget = parsed(R"({"metadata": {"name": "b", "namespace": "team"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "train"}}},
    "status": {"disruptionsAllowed": 3, "currentHealthy": 5, "desiredHealthy": 2}})");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->name_space + "/" + budget->name, "team/b");
  EXPECT_EQ(budget->allowed, 3);
  EXPECT_TRUE(kube::Matches(budget->selector, {{"app", "train"}}));
  EXPECT_FALSE(kube::Matches(budget->selector, {{"app", "web"}}));
  const auto young = parsed(R"({"metadata": {"name": "b", "namespace": "team"}})");
  ASSERT_TRUE(young);
  EXPECT_EQ(young->allowed, 0) << "its controller has not said anything yet";
  EXPECT_FALSE(kube::Matches(young->selector, {}));
  EXPECT_EQ(
      parsed(R"({"metadata": {"name": "b", "namespace": "team"}, "status": {"disruptionsAllowed": -1}})")
          ->allowed,
      0);
  for (const char* text :
       {"null", R"({"metadata": {"name": "b"}})", R"({"metadata": {"namespace": "team"}})"})
    EXPECT_FALSE(parsed(text)) << text;
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
  const Resources requests = Parsed(object).requests;
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

TEST(ParseNodeTest, AsARealServerSendsIt) {
  const Node node = ParseNode(json::parse(kGoldenNode)).value();
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.uid, "b8c2e343-2ae4-4bbe-98c7-f2d8b6dadd97");
  EXPECT_THAT(node.labels, ElementsAre(Pair("kubernetes.io/hostname", "n1")));
  EXPECT_EQ(node.allocatable.milli_cpu, 32'000);
  EXPECT_EQ(node.allocatable.memory_bytes, 64LL << 30);
  EXPECT_THAT(node.allocatable.others, ElementsAre(Pair("crossover.dev/slot", 4), Pair("pods", 110)));
  EXPECT_TRUE(node.ready);
  EXPECT_FALSE(node.cordoned);
}

TEST(ParseNodeTest, TaintsCordonAndReadiness) {
  json object = json::parse(kGoldenNode);
  object["spec"] =
      json::parse(R"({"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]})");
  object["status"]["conditions"][0]["status"] = "Unknown";
  const Node node = ParseNode(object).value();
  EXPECT_THAT(node.taints, ElementsAre(Taint{.key = "k", .value = "v", .effect = "NoSchedule"}));
  EXPECT_TRUE(node.cordoned);
  EXPECT_FALSE(node.ready);
  EXPECT_FALSE(ParseNode(json::object()));
}

TEST(ParseGpuNodeTest, WhatADaemonPublishes) {
  const auto node = ParseGpuNode(json::parse(R"({"metadata":{"name":"n1"},"status":{
    "mode":"enforce","maintenance":true,"sharing":{"kind":"mps","multiUser":true},
    "linkBytesPerSecond":25000000000,
    "requested":{"milliCPU":1500,"memoryBytes":1024,"pods":7,"others":{"x.y/z":2}},
    "gpus":[{"uuid":"GPU-a","memoryBytes":85899345920,"slots":2,"healthy":true,
             "holders":[{"namespace":"ns","pod":"p","container":"c","gang":"ns/g","slots":["GPU-a::0","GPU-a::1"]}]},
            {"uuid":"GPU-b","slots":2,"healthy":false,"withheld":"another plugin has it"},
            {"slots":2},{"uuid":"GPU-a","slots":9}]}})"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->mode, "enforce");
  EXPECT_TRUE(node->maintenance && node->multi_user);
  EXPECT_EQ(node->sharing, "mps");
  EXPECT_EQ(node->link_bytes_per_s, 25e9);
  ASSERT_EQ(node->gpus.size(), 2u) << "one without a name, and one that was named before";
  EXPECT_EQ(node->gpus[0].memory, 80ull << 30);
  EXPECT_EQ(node->gpus[0].slots, 2);
  EXPECT_TRUE(node->gpus[0].healthy);
  EXPECT_THAT(node->gpus[0].holders,
              ElementsAre(GpuNode::Holder{
                  .name_space = "ns", .pod = "p", .container = "c", .slots = {"GPU-a::0", "GPU-a::1"}}));
  EXPECT_EQ(node->gpus[1].withheld, "another plugin has it");
  EXPECT_EQ(node->requested.milli_cpu, 1500);
  EXPECT_EQ(node->requested.memory_bytes, 1024);
  EXPECT_THAT(node->requested.others, ElementsAre(Pair("pods", 7), Pair("x.y/z", 2)));
  EXPECT_FALSE(ParseGpuNode(json::parse(R"({"status":{}})")));
}

TEST(ParseJobProfileTest, EachGoldenProfile) {
  for (const GoldenProfile& golden : kGoldenProfiles) {
    const auto profile = ParseJobProfile(json::parse(golden.object));
    ASSERT_TRUE(profile) << golden.object;
    EXPECT_EQ(profile->key, golden.key) << golden.object;
    EXPECT_EQ(profile->hinted, golden.hinted) << golden.object;
    EXPECT_EQ(profile->has_hints, golden.has_hints) << golden.object;
    EXPECT_EQ(profile->compute_s, golden.compute_s) << golden.object;
    EXPECT_EQ(profile->peak_memory, golden.peak_memory) << golden.object;
    EXPECT_EQ(profile->meetings.size(), golden.meetings) << golden.object;
    EXPECT_EQ(profile->runs.size(), golden.runs) << golden.object;
  }
}

TEST(ParseJobProfileTest, EachBrokenTwin) {
  for (const BrokenProfile& twin : kBrokenProfiles) {
    const auto profile = ParseJobProfile(Broken(twin));
    ASSERT_EQ(profile.has_value(), twin.is_profile) << twin.patch;
    if (!profile) continue;
    EXPECT_EQ(profile->key, twin.key) << twin.patch;
    EXPECT_EQ(profile->compute_s, twin.compute_s) << twin.patch;
    EXPECT_EQ(profile->runs.size(), twin.runs) << twin.patch;
  }
}

TEST(ParseJobProfileTest, AtMostAsManyRunsAndGainsAsTheDefinitionAllows) {
  json object = json::parse(kGoldenMeasured);
  json& runs = object["status"]["runs"];
  for (std::size_t i = 0; i < kMostRuns; ++i) runs.push_back(runs[0]);
  json& gains = object["status"]["meetings"][0]["gains"];
  for (std::size_t i = 0; i < kMostGains; ++i) gains.push_back(gains[0]);
  const auto profile = ParseJobProfile(object);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->runs.size(), kMostRuns);
  EXPECT_EQ(profile->meetings.at(0).gains.size(), kMostGains);
}

TEST(ParseJobProfileTest, MeasuredBeforeHinted) {
  json object = json::parse(R"({"metadata":{"namespace":"ns","name":"p"},
    "spec":{"key":"bert","computeSeconds":0.5,"exposedSeconds":0.25,"peakMemoryBytes":100},
    "status":{"meetings":[{"namespace":"ns","key":"gpt","gain":1.5},{"key":"odd","gain":-1}]}})");
  const auto hinted = ParseJobProfile(object);
  ASSERT_TRUE(hinted);
  EXPECT_TRUE(hinted->hinted);
  EXPECT_EQ(hinted->key, "bert");
  EXPECT_EQ(hinted->compute_s, 0.5);
  EXPECT_EQ(hinted->exposed_s, 0.25);
  EXPECT_EQ(hinted->peak_memory, 100u);
  EXPECT_THAT(hinted->meetings,
              ElementsAre(JobProfile::Meeting{.name_space = "ns", .key = "gpt", .gain = 1.5}));
  object["status"].update(json::parse(
      R"({"computeSeconds":0.75,"exposedSeconds":0,"jitter":0.1,"peakMemoryBytes":200,"gpus":8})"));
  const auto measured = ParseJobProfile(object);
  EXPECT_FALSE(measured->hinted);
  EXPECT_EQ(measured->compute_s, 0.75);
  EXPECT_EQ(measured->exposed_s, 0);
  EXPECT_EQ(measured->jitter, 0.1);
  EXPECT_EQ(measured->peak_memory, 200u);
  EXPECT_EQ(measured->gpus, 8);
  object.erase("spec");
  EXPECT_EQ(ParseJobProfile(object)->key, "p");
  object["metadata"].erase("namespace");
  EXPECT_FALSE(ParseJobProfile(object));
}

}  // namespace
}  // namespace crossover::extender
