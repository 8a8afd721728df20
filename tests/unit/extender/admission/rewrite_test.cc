#include "extender/admission/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extender/admission/gpus.h"
#include "tests/unit/common/kube/golden_slots.h"
#include "tests/unit/extender/admission/made_pod.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StrEq;

constexpr char kShare[] = "crossover.dev/share";

// The webhook counts as all others do, and refuses what an API server or a kubelet could read otherwise.
TEST(GpusOfTest, SlotsOfEachGoldenContainer) {
  for (const kube::GoldenSlots& golden : kube::kGoldenSlots) {
    const auto read = GpusOf(kube::PodWith(golden)["spec"], {});
    const auto* asking = std::get_if<std::vector<ContainerRequest>>(&read);
    EXPECT_EQ(asking == nullptr, golden.refused_by_us) << golden.resources;
    if (asking == nullptr) continue;
    EXPECT_EQ(asking->at(0).gpus, golden.slots) << golden.resources;
  }
}

class RewriteTest : public ::testing::Test {
 protected:
  Decision Asked(const json& pod) {
    return Rewrite(pod, "team", settings_, [this](const std::string&) { return limits_; });
  }
  // Returns the pod as the API server would store it. Expects that the webhook rewrites `pod`, and that
  // admitting the result again changes nothing.
  json Admitted(const json& pod) {
    const Decision decision = Asked(pod);
    EXPECT_EQ(decision.outcome, Outcome::kRewritten) << decision.verdict.refusal;
    const json made = pod.patch(decision.verdict.patch);
    const Decision again = Asked(made);
    EXPECT_EQ(again.outcome, Outcome::kRewritten) << again.verdict.refusal;
    EXPECT_TRUE(again.verdict.patch.empty()) << again.verdict.patch;
    return made;
  }
  std::string Refusal(const json& pod) {
    const Decision decision = Asked(pod);
    EXPECT_FALSE(decision.verdict.allowed);
    EXPECT_TRUE(decision.verdict.patch.empty());
    return decision.verdict.refusal;
  }

  RewriteSettings settings_;
  std::optional<NamespaceLimits> limits_ = NamespaceLimits();
};

TEST_F(RewriteTest, WholeGpusBecomeSlots) {
  const json made = Admitted(MadePod({{kShare, "true"}}));
  const json amounts = {{"cpu", "1"}, {"crossover.dev/slot", "2"}};
  EXPECT_EQ(made["spec"]["containers"][0]["resources"], json({{"limits", amounts}, {"requests", amounts}}));
  EXPECT_EQ(made["spec"]["schedulerName"], "crossover-scheduler");
  EXPECT_EQ(made["spec"]["schedulingGates"], json::parse(R"([{"name": "crossover.dev/gang"}])"));
  EXPECT_EQ(made["metadata"]["labels"]["crossover.dev/managed"], "true");
  EXPECT_EQ(made["metadata"]["annotations"]["crossover.dev/admitted"].get<std::string>().size(), 16u);
  EXPECT_FALSE(made["spec"].contains("tolerations"));
  EXPECT_FALSE(made["spec"].contains("runtimeClassName"));
}

TEST_F(RewriteTest, APodWhoseGangIsNotKnownIsAdmittedWithAWarning) {
  const auto warnings = [this](const json& pod) { return Asked(pod).verdict.warnings; };
  const json pod = MadePod({{kShare, "true"}});
  EXPECT_THAT(warnings(pod), testing::IsEmpty());
  std::string space;
  settings_.about_gang = [&space](const json&, const std::string& name_space) {
    space = name_space;
    return std::string("StatefulSet train: expected a gang");
  };
  EXPECT_THAT(warnings(pod), testing::ElementsAre("StatefulSet train: expected a gang"));
  EXPECT_EQ(space, "team");
  Admitted(pod);
  settings_.about_gang = [](const json&, const std::string&) { return std::string(); };
  EXPECT_THAT(warnings(pod), testing::IsEmpty());
}

TEST_F(RewriteTest, ALabelThatIsNoTopologyLabelIsRefused) {
  const json pod = MadePod({{kShare, "true"}, {"crossover.dev/within", "rack"}});
  Admitted(pod);
  settings_.topology = {"zone", "rack"};
  Admitted(pod);
  settings_.topology = {"zone", "row"};
  EXPECT_EQ(Refusal(pod),
            "crossover.dev/within: expected a label that gangs.topology of the extender names (zone, row), "
            "got rack");
}

// The memory that a pod is granted is known when the pod has its place, and its containers start after
// that. The variable therefore refers to an annotation.
TEST_F(RewriteTest, APodThatNamesNoBudgetIsToldWhatItIsGranted) {
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"][0]["env"] = {{{"name", "CROSSOVER_GPU_MEMORY"}, {"value", "1Gi"}}};
  pod["spec"]["containers"].push_back({{"name", "plain"}});
  const json made = Admitted(pod);
  EXPECT_EQ(made["spec"]["containers"][0]["env"], json::parse(R"([{
    "name": "CROSSOVER_GPU_MEMORY", "valueFrom": {"fieldRef":
      {"apiVersion": "v1", "fieldPath": "metadata.annotations['crossover.dev/status-gpu-memory']"}}}])"));
  EXPECT_FALSE(made["spec"]["containers"][1].contains("env"));
}

TEST_F(RewriteTest, ExclusivePodsAskForOneSlotOfEachGpu) {
  const json made = Admitted(MadePod({{kShare, "exclusive"}}));
  EXPECT_EQ(made["spec"]["containers"][0]["resources"]["limits"]["crossover.dev/slot"], "2");
}

TEST_F(RewriteTest, APodThatAsksForSlotsKeepsThem) {
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"][0]["resources"] = {{"limits", {{"crossover.dev/slot", "4"}}}};
  const json made = Admitted(pod);
  EXPECT_EQ(made["spec"]["containers"][0]["resources"],
            json::parse(R"({"limits":{"crossover.dev/slot":"4"},"requests":{"crossover.dev/slot":"4"}})"));
}

// An API server shortens round numbers.
TEST_F(RewriteTest, AThousandGpusAreACountToo) {
  const json made = Admitted(MadePod({{kShare, "true"}}, "1k"));
  EXPECT_EQ(made["spec"]["containers"][0]["resources"]["limits"]["crossover.dev/slot"], "1000");
}

TEST_F(RewriteTest, EveryContainerCountsAndOthersStayAsTheyAre) {
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["initContainers"] = {MadeContainer("first", {{"nvidia.com/gpu", "1"}}),
                                   {{"name", "plain"}},
                                   {{"name", "empty"}, {"resources", nullptr}}};
  pod["spec"]["containers"].push_back(MadeContainer("more", {{"nvidia.com/gpu", 3}}));
  pod["spec"]["containers"].push_back(MadeContainer("none", {{"nvidia.com/gpu", "0"}}));
  const json made = Admitted(pod);
  const auto slots = [&made](const char* list, std::size_t index) {
    return made["spec"][list][index]["resources"]["limits"]["crossover.dev/slot"];
  };
  EXPECT_EQ(slots("initContainers", 0), "1");
  EXPECT_EQ(slots("containers", 0), "2");
  EXPECT_EQ(slots("containers", 1), "3");
  EXPECT_EQ(made["spec"]["containers"][2]["resources"]["limits"], json::object());
  EXPECT_EQ(made["spec"]["initContainers"][1], pod["spec"]["initContainers"][1]);
  EXPECT_EQ(made["spec"]["initContainers"][2], pod["spec"]["initContainers"][2]);
  EXPECT_EQ(made.dump().find("nvidia.com/gpu"), std::string::npos);
}

TEST_F(RewriteTest, ParentsAreMadeAndWhatIsThereStays) {
  json pod = MadePod({{kShare, "true"}});
  pod["metadata"]["labels"] = nullptr;
  pod["spec"]["schedulingGates"] = json::array({{{"name", "kueue.x-k8s.io/admission"}}});
  pod["spec"].erase("schedulerName");
  const json made = Admitted(pod);
  EXPECT_EQ(made["metadata"]["labels"].size(), 1u);
  EXPECT_EQ(made["spec"]["schedulingGates"][0]["name"], "kueue.x-k8s.io/admission");
  EXPECT_EQ(made["spec"]["schedulingGates"].size(), 2u);
  EXPECT_EQ(made["spec"]["schedulerName"], "crossover-scheduler");
}

TEST_F(RewriteTest, TheBudgetReachesThoseContainersThatHaveGpus) {
  json pod = MadePod({{kShare, "true"}, {"crossover.dev/gpu-memory", "20Gi"}});
  pod["spec"]["containers"][0]["env"] = json::array({{{"name", "CROSSOVER_GPU_MEMORY"}, {"value", "70Gi"}},
                                                     {{"name", "A"}, {"value", "b"}},
                                                     {{"name", "CROSSOVER_GPU_MEMORY"}, {"value", "20Gi"}}});
  pod["spec"]["containers"].push_back({{"name", "plain"}});
  const json made = Admitted(pod);
  EXPECT_EQ(made["spec"]["containers"][0]["env"],
            json::parse(R"([{"name":"A","value":"b"},{"name":"CROSSOVER_GPU_MEMORY","value":"20Gi"}])"));
  EXPECT_EQ(made["spec"]["containers"][1], pod["spec"]["containers"][1]);
}

// A policy engine does this if the name of its configuration comes after ours. The API server then asks us
// again.
TEST_F(RewriteTest, ContainersWithGpusSeeTheWeightsOfTheirJob) {
  json pod = MadePod({{kShare, "true"}, {"crossover.dev/batch-shares", "true"}});
  pod["spec"]["containers"].push_back({{"name", "logs"}});
  const json made = Admitted(pod);
  const json& source = made["spec"]["volumes"].back()["downwardAPI"]["items"][0];
  EXPECT_EQ(source["path"], "weights");
  EXPECT_EQ(source["fieldRef"]["fieldPath"], "metadata.annotations['crossover.dev/status-batch-shares']");
  const json& container = made["spec"]["containers"][0];
  EXPECT_EQ(container["volumeMounts"].back(), json::parse(R"({"name": "crossover-batch-shares",
      "mountPath": "/run/crossover-shares", "readOnly": true})"));
  EXPECT_EQ(container["env"].back(), json::parse(R"({"name": "CROSSOVER_BATCH_SHARES",
      "value": "/run/crossover-shares/weights"})"));
  EXPECT_FALSE(made["spec"]["containers"].back().contains("volumeMounts"));
  EXPECT_FALSE(Admitted(MadePod({{kShare, "true"}}))["spec"].contains("volumes"));
}

TEST_F(RewriteTest, WhatAnotherWebhookAddsToAnAdmittedPodIsHeeded) {
  json pod = Admitted(MadePod({{kShare, "true"}}));
  const std::string mark = pod["metadata"]["annotations"]["crossover.dev/admitted"];
  pod["metadata"]["annotations"]["crossover.dev/gpu-memory"] = "20Gi";
  const json made = Admitted(pod);
  EXPECT_NE(made["metadata"]["annotations"]["crossover.dev/admitted"], mark);
  EXPECT_EQ(made["spec"]["containers"][0]["env"],
            json::array({{{"name", "CROSSOVER_GPU_MEMORY"}, {"value", "20Gi"}}}));
}

TEST_F(RewriteTest, TolerationsAndRuntimeClassAsConfigured) {
  settings_.tolerations = json::array({{{"key", "gpu"}, {"operator", "Exists"}}});
  settings_.runtime_class = "nvidia";
  json made = Admitted(MadePod({{kShare, "true"}}));
  EXPECT_EQ(made["spec"]["tolerations"], settings_.tolerations);
  EXPECT_EQ(made["spec"]["runtimeClassName"], "nvidia");
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["runtimeClassName"] = "own";
  EXPECT_EQ(Admitted(pod)["spec"]["runtimeClassName"], "own");
}

// Autoscalers take a node for empty whose pods ask for no whole GPUs.
TEST_F(RewriteTest, AutoscalersAreToldToLeaveThePodWhereItRuns) {
  constexpr char kEvict[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  constexpr char kDisrupt[] = "karpenter.sh/do-not-disrupt";
  constexpr char kPrefer[] = "descheduler.alpha.kubernetes.io/prefer-no-eviction";
  json made = Admitted(MadePod({{kShare, "true"}}));
  EXPECT_EQ(made["metadata"]["annotations"][kEvict], "false");
  EXPECT_EQ(made["metadata"]["annotations"][kDisrupt], "true");
  EXPECT_EQ(made["metadata"]["annotations"][kPrefer], "true");
  made = Admitted(MadePod({{kShare, "true"}, {kEvict, "true"}}));
  EXPECT_EQ(made["metadata"]["annotations"][kEvict], "true") << "the user's word stays";
  EXPECT_EQ(made["metadata"]["annotations"][kDisrupt], "true");
  settings_.protect_from_autoscalers = false;
  made = Admitted(MadePod({{kShare, "true"}}));
  EXPECT_FALSE(made["metadata"]["annotations"].contains(kEvict));
  EXPECT_FALSE(made["metadata"]["annotations"].contains(kDisrupt));
  EXPECT_FALSE(made["metadata"]["annotations"].contains(kPrefer));
}

TEST_F(RewriteTest, UnderMpsAVolumeAtShmIsMovedOutOfTheWay) {
  json pod = MadePod({{kShare, "true"}});
  const json shm =
      json::parse(R"([{"name": "data", "mountPath": "/data"}, {"name": "shm", "mountPath": "/dev//shm/"}])");
  pod["spec"]["containers"][0]["volumeMounts"] = shm;
  pod["spec"]["containers"].push_back({{"name", "plain"}, {"volumeMounts", shm}});
  EXPECT_EQ(Admitted(pod)["spec"]["containers"][0]["volumeMounts"], shm) << "it stays where MPS is not";
  EXPECT_TRUE(Asked(pod).verdict.warnings.empty());
  settings_.node_shm = true;
  const json made = Admitted(pod);
  EXPECT_EQ(made["spec"]["containers"][0]["volumeMounts"][1],
            json({{"name", "shm"}, {"mountPath", "/run/crossover-shm"}}));
  EXPECT_EQ(made["spec"]["containers"][0]["volumeMounts"][0], shm[0]);
  EXPECT_EQ(made["spec"]["containers"][1]["volumeMounts"], shm) << "it has no GPU";
  const auto warnings = Asked(pod).verdict.warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[1],
              HasSubstr("it shares its volume at /dev/shm with a container that now has the volume at"));
  EXPECT_THAT(warnings[1], HasSubstr("plain"));
  EXPECT_THAT(warnings[0],
              HasSubstr("its volume at /dev/shm is at /run/crossover-shm: under MPS /dev/shm is"));
  EXPECT_TRUE(Asked(made).verdict.warnings.empty());
}

TEST_F(RewriteTest, VolumesThatWouldMeetAreRefused) {
  settings_.node_shm = true;
  for (const char* other : {"/run/crossover-shm", "/run//crossover-shm/", "/dev/shm/"}) {
    json pod = MadePod({{kShare, "true"}});
    pod["spec"]["containers"][0]["volumeMounts"] = {{{"name", "a"}, {"mountPath", "/dev/shm"}},
                                                    {{"name", "b"}, {"mountPath", other}}};
    EXPECT_THAT(
        Refusal(pod),
        HasSubstr("its volume mounts at /dev/shm and /run/crossover-shm: expected one at most, because "
                  "the webhook moves a mount from the first path to the second, got 2"))
        << other;
    settings_.node_shm = false;
    EXPECT_TRUE(Asked(pod).verdict.allowed) << "nothing is moved";
    settings_.node_shm = true;
  }
}

TEST_F(RewriteTest, WhereItStaysAWarningSaysThatItKeepsThePodOffMps) {
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"][0]["volumeMounts"] = {{{"name", "a"}, {"mountPath", "/dev/shm"}}};
  bool mps = false;
  settings_.mps_somewhere = [&mps] { return mps; };
  EXPECT_TRUE(Asked(pod).verdict.warnings.empty());
  mps = true;
  const auto warnings = Asked(pod).verdict.warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("the pod gets no node on which jobs share through MPS"));
  EXPECT_LE(warnings[0].size(), kLongestWarning);
  EXPECT_TRUE(Asked(MadePod({{kShare, "true"}})).verdict.warnings.empty());
}

TEST_F(RewriteTest, MountsOfAnyFormAreSurvived) {
  settings_.node_shm = true;
  for (const char* mounts : {"null", "7", "{}", "[7, null, {}, {\"mountPath\": 3}, {\"mountPath\": \"\"}]"}) {
    json pod = MadePod({{kShare, "true"}});
    pod["spec"]["containers"][0]["volumeMounts"] = json::parse(mounts);
    EXPECT_EQ(Admitted(pod)["spec"]["containers"][0]["volumeMounts"], json::parse(mounts));
  }
}

TEST_F(RewriteTest, WhoDoesNotShareStaysAsItIs) {
  const Decision decision = Asked(MadePod({{"crossover.dev/mode", "off"}}));
  EXPECT_EQ(decision.outcome, Outcome::kUntouched);
  EXPECT_TRUE(decision.verdict.allowed && decision.verdict.patch.empty() &&
              decision.verdict.warnings.empty());
}

// A pod that holds a slot may run beside other jobs. Without the annotation and our scheduler, nothing
// would check that these jobs accept it.
TEST_F(RewriteTest, SlotsAreForThoseWhoSayThatTheyShare) {
  json pod = MadePod(json::object());
  pod["spec"]["containers"][0]["resources"] = {{"limits", {{"crossover.dev/slot", "1"}}}};
  EXPECT_THAT(Refusal(pod), StrEq("crossover.dev/share: expected true or exclusive, as the pod asks for "
                                  "crossover.dev/slot, got none"));
  for (const auto& [key, value] : {std::pair("schedulerName", "volcano"), {"nodeName", "node-1"}}) {
    json placed = MadePod({{kShare, "true"}});
    placed["spec"]["containers"][0]["resources"] = {{"limits", {{"crossover.dev/slot", "1"}}}};
    placed["spec"][key] = value;
    EXPECT_THAT(Refusal(placed), HasSubstr(key));
  }
}

TEST_F(RewriteTest, WhomOthersPlaceIsLeftAloneWithAWarning) {
  for (const auto& [key, value] : {std::pair("schedulerName", "volcano"), {"nodeName", "node-1"}}) {
    json pod = MadePod({{kShare, "true"}});
    pod["spec"][key] = value;
    const Decision decision = Asked(pod);
    EXPECT_EQ(decision.outcome, Outcome::kLeftAlone);
    EXPECT_TRUE(decision.verdict.allowed && decision.verdict.patch.empty());
    ASSERT_EQ(decision.verdict.warnings.size(), 1u);
    EXPECT_THAT(decision.verdict.warnings[0], HasSubstr(key));
    EXPECT_LE(decision.verdict.warnings[0].size(), kLongestWarning);
  }
}

TEST_F(RewriteTest, MalformedRequestsAreRefusedByName) {
  EXPECT_EQ(Refusal(MadePod({{kShare, "yes"}})), "crossover.dev/share: expected true or exclusive, got yes");
  for (const json& no : {json("0"), json()}) {
    json pod = MadePod({{kShare, "true"}});
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = no;
    pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = no;
    EXPECT_EQ(Refusal(pod),
              "crossover.dev/share: no container asks for crossover.dev/slot or nvidia.com/gpu");
  }
  for (const json& bad :
       {json("500m"), json("-1"), json("99999999999"), json("many"), json(1.5), json::array()}) {
    json pod = MadePod({{kShare, "true"}});
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = bad;
    EXPECT_THAT(Refusal(pod), HasSubstr("container main: limits.nvidia.com/gpu: ")) << bad;
    EXPECT_THAT(Refusal(pod), HasSubstr(": expected 0 to 1024, got ")) << bad;
  }
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "1";
  EXPECT_EQ(Refusal(pod), "container main: requests.nvidia.com/gpu: expected the limit's 2, got 1");
  pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"][0]["resources"]["limits"]["crossover.dev/slot"] = "2";
  EXPECT_EQ(Refusal(pod),
            "container main: resources: expected nvidia.com/gpu or crossover.dev/slot, got both");
}

// Each word is a container and the number of GPUs that it asks for, in the order of the pod: i2 is an init
// container with two, s1 a sidecar with one, m3 a main container with three.
TEST_F(RewriteTest, InitContainersMayNotLeaveGpusToChance) {
  const std::pair<const char*, bool> cases[] = {
      {"i2 m2", true},       {"i1 m2", true},     {"i2 m1", false},   {"i2 m1 m1", false},
      {"i1 i2 m2", true},    {"i2 i1 m2", false}, {"i2 m2 m1", true}, {"i2 i0 m2", true},
      {"i2 s2 m1", true},    {"i2 s1 m1", false}, {"s2 m1", true},    {"i2 m0", false},
      {"i2 s2 i1 m1", true}, {"i4 m0 m2", false}, {"i1 i2", false},
  };
  for (const auto& [words, allowed] : cases) {
    json pod = MadePod({{kShare, "true"}});
    json& spec = pod["spec"];
    spec["containers"] = json::array();
    spec["initContainers"] = json::array();
    for (const char* word = words; *word != '\0'; word += word[2] == '\0' ? 2 : 3) {
      json made = MadeContainer(std::string(word, 2), {{"nvidia.com/gpu", std::string(1, word[1])}});
      if (word[0] == 's') made["restartPolicy"] = "Always";
      spec[word[0] == 'm' ? "containers" : "initContainers"].push_back(made);
    }
    const Decision decision = Asked(pod);
    EXPECT_EQ(decision.verdict.allowed, allowed) << words << ": " << decision.verdict.refusal;
    if (!allowed) {
      EXPECT_THAT(decision.verdict.refusal,
                  AnyOf(HasSubstr("is left to chance; expected at least "),
                        HasSubstr("no container after it for any: expected at least as many for a")));
    }
  }
}

TEST_F(RewriteTest, AQuotaOnGpusIsNotEvaded) {
  limits_->quotas = {"requests.nvidia.com/gpu", "pods"};
  EXPECT_EQ(
      Refusal(MadePod({{kShare, "true"}})),
      "namespace team has a quota on nvidia.com/gpu and none on crossover.dev/slot: an administrator has to "
      "limit requests.crossover.dev/slot before pods share there; twice the number of GPUs lets two jobs "
      "share "
      "each");
  limits_->quotas.insert("requests.crossover.dev/slot");
  Admitted(MadePod({{kShare, "true"}}));
  limits_->quotas = {"pods"};
  Admitted(MadePod({{kShare, "true"}}));
}

TEST_F(RewriteTest, WhileLimitsAreNotKnownAPodComesLater) {
  limits_.reset();
  const Decision decision = Asked(MadePod({{kShare, "true"}}));
  EXPECT_EQ(decision.outcome, Outcome::kNotReady);
  EXPECT_EQ(decision.verdict.code, 503);
  EXPECT_EQ(decision.verdict.refusal,
            "the quotas and limit ranges of namespaces are not known yet: try again");
}

// The API server refuses each container of such a namespace that does not ask for whole GPUs.
TEST_F(RewriteTest, ALimitRangeThatBoundsWholeGpusIsRefusedInWords) {
  for (const RangeRule::Kind kind : {RangeRule::Kind::kMax, RangeRule::Kind::kMin, RangeRule::Kind::kRatio}) {
    limits_->ranges = {{kind, "sizes", "cpu", "4"}, {kind, "gpus", "nvidia.com/gpu", "8"}};
    EXPECT_EQ(Refusal(MadePod({{kShare, "true"}})),
              std::string("namespace team, LimitRange gpus: ") + NameOf(kind) +
                  ".nvidia.com/gpu: expected none, because pods that share ask for crossover.dev/slot in its "
                  "place, got 8: an administrator has to bound crossover.dev/slot there, or nothing");
  }
  limits_->ranges = {{RangeRule::Kind::kMax, "slots", "crossover.dev/slot", "8"},
                     {RangeRule::Kind::kMax, "sizes", "cpu", "4"}};
  Admitted(MadePod({{kShare, "true"}}));
}

// A maximum of slots is a default as well, by which the API server gives them to each container.
TEST_F(RewriteTest, SlotsThatALimitRangeGivesBesideWholeGpusDoNotCount) {
  json pod = MadePod({{kShare, "true"}});
  const json made = Admitted(pod);
  for (const char* part : {"limits", "requests"})
    pod["spec"]["containers"][0]["resources"][part]["crossover.dev/slot"] = "8";
  EXPECT_EQ(Refusal(pod),
            "container main: resources: expected nvidia.com/gpu or crossover.dev/slot, got both")
      << "the control: no LimitRange gives them";
  limits_->ranges = {{RangeRule::Kind::kDefault, "slots", "crossover.dev/slot", "8"},
                     {RangeRule::Kind::kMax, "slots", "crossover.dev/slot", "8"}};
  EXPECT_EQ(Admitted(pod), made);
}

// The API server applies defaults again after a webhook took the whole GPUs out, and then asks again.
TEST_F(RewriteTest, WholeGpusThatALimitRangeGivesBackAreTakenOutAgain) {
  json pod = MadePod({{kShare, "true"}});
  pod["spec"]["containers"].push_back(MadeContainer("slots", {{"crossover.dev/slot", "1"}}));
  const json made = Admitted(pod);
  json given = made;
  for (json& container : given["spec"]["containers"]) {
    for (const char* part : {"limits", "requests"}) container["resources"][part]["nvidia.com/gpu"] = "1";
  }
  EXPECT_EQ(Refusal(given),
            "container main: resources: expected nvidia.com/gpu or crossover.dev/slot, got both")
      << "the control: no LimitRange gives them";
  limits_->ranges = {{RangeRule::Kind::kDefault, "gpus", "nvidia.com/gpu", "1"}};
  EXPECT_EQ(Admitted(given), made);
  // A container that does not ask for slots keeps what its namespace gives it, as a slot.
  EXPECT_EQ(Admitted(pod), made);
}

TEST_F(RewriteTest, APatchThatWouldNotApplyIsNotSent) {
  const Differ wrong[] = {
      [](const json&, const json&) {
        return json::parse(R"([{"op": "add", "path": "/spec/containers/0/env/-", "value": 1}])");
      },
      [](const json&, const json&) { return json::parse(R"([{"op": "remove", "path": "/nothing"}])"); },
      [](const json&, const json&) { return json::array(); },
      [](const json&, const json&) { return json(3); }};
  for (const Differ differ : wrong) {
    settings_.differ = differ;
    const Decision decision = Asked(MadePod({{kShare, "true"}}));
    EXPECT_EQ(decision.outcome, Outcome::kUnpatchable);
    EXPECT_TRUE(decision.verdict.allowed && decision.verdict.patch.empty());
    EXPECT_EQ(decision.verdict.warnings.size(), 1u);
  }
}

}  // namespace
}  // namespace crossover::extender::admission
