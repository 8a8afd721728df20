// The doctor finds each planted fault by the name of its check, and finds none in a cluster without faults.
#include "cli/cluster/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tests/unit/cli/cluster/sound_cluster.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kHiddenAtFirst[] =
    "shm_hidden_under_mps: pod team/a-0 on node n1: /dev/shm: expected the volume of the node, got one of "
    "its own";

struct Planted {
  const char* check;
  const char* seen;  // a part of what the check says
  std::function<void(ClusterFacts*)> plant;
};

json& First(ClusterFacts* facts, const char* list) { return facts->lists[list][0]; }
json& FirstGpu(ClusterFacts* facts) { return First(facts, "gpu_nodes")["status"]["gpus"][0]; }

void NotReady(ClusterFacts* facts, std::size_t program) {
  facts->lists["programs"][program]["status"]["conditions"][0]["status"] = "False";
}

const std::vector<Planted>& Faults() {
  static const std::vector<Planted> faults = {
      {"definitions", "CustomResourceDefinition jobprofiles.crossover.dev: expected one, got none",
       [](ClusterFacts* f) { f->lists["definitions"].erase(1); }},
      {"daemon_missing", "node n2", [](ClusterFacts* f) { f->lists["programs"].erase(1); }},
      {"daemon_missing", "node n3",
       [](ClusterFacts* f) {  // no daemon has ever run there: no slots, no GPUNode
         f->lists["nodes"].push_back(
             {{"metadata",
               {{"name", "n3"}, {"labels", {{"cloud.google.com/gke-accelerator", "nvidia-l4"}}}}}});
       }},
      {"daemon_missing", "node n3",
       [](ClusterFacts* f) {
         const char* label = "feature.node.kubernetes.io/pci-10de.present";
         f->lists["nodes"].push_back({{"metadata", {{"name", "n3"}, {"labels", {{label, "true"}}}}}});
         json impostor = Program("deviceplugin", "impostor", "n3");
         impostor["metadata"]["namespace"] = "team";
         impostor["spec"].erase("hostPID");
         f->lists["programs"].push_back(impostor);
       }},
      {"daemon_missing", "node n3",
       [](ClusterFacts* f) {  // another plugin gives its GPUs out, and no setting leaves the node to it
         json node = Node("n3");
         node["status"]["allocatable"] = {{"nvidia.com/gpu", "8"}};
         f->lists["nodes"].push_back(node);
       }},
      {"stale_gpunode", "GPUNode n3: expected a node daemon that keeps it up to date, got none",
       [](ClusterFacts* f) {  // the node is gone, and its faults are gone with it
         json left = GpuNode("n3", "GPU-3");
         left["status"]["version"] = "0.0.9";
         left["status"]["mode"] = "off";
         left["status"]["maintenance"] = true;
         left["status"]["sharing"]["kind"] = "timeslice";
         left["status"]["gpus"][0]["withheld"] = "another device plugin gives it out, as nvidia.com/gpu";
         left["status"]["gpus"][0]["noTurns"] = "two ranks of gang a";
         left["status"]["gpus"][0]["holders"] =
             json::array({HolderOf("x-0", "team/x", "GPU-3::0"), HolderOf("x-1", "team/x", "GPU-3::0")});
         f->lists["gpu_nodes"].push_back(left);
       }},
      {"daemon_not_ready", "pod crossover-system/daemon-1 on node n1: expected condition Ready",
       [](ClusterFacts* f) { NotReady(f, 0); }},
      {"no_gpus", "node n1",
       [](ClusterFacts* f) { First(f, "gpu_nodes")["status"]["gpus"] = json::array(); }},
      {"mps_not_ready", "crossover-system/mps-2 on node n2", [](ClusterFacts* f) { NotReady(f, 3); }},
      {"extender_not_ready", "crossover-system/extender-y on node n2",
       [](ClusterFacts* f) { NotReady(f, 5); }},
      {"nobody_leads", "expected an extender's scheduler that renews it, got no renewal in the last minute",
       [](ClusterFacts* f) { First(f, "leases")["spec"]["renewTime"] = "2027-01-15T07:50:00Z"; }},
      {"nobody_leads", "expected a pod of an extender as the holder, got crossover-system/gone",
       [](ClusterFacts* f) { First(f, "leases")["spec"]["holderIdentity"] = "gone_1"; }},
      {"split_leadership", "other/extender-z leads",
       [](ClusterFacts* f) {
         json other = First(f, "leases");
         other["metadata"]["namespace"] = "other";
         other["spec"]["holderIdentity"] = "extender-z_1";
         f->lists["leases"].push_back(other);
         json pod = Program("extender", "extender-z", "n1");
         pod["metadata"]["namespace"] = "other";
         f->lists["programs"].push_back(pod);
       }},
      {"version_skew", "0.2.0: the daemon of n1",
       [](ClusterFacts* f) { First(f, "gpu_nodes")["status"]["version"] = "0.2.0"; }},
      {"webhook_missing", "crossover-admission", [](ClusterFacts* f) { f->lists["webhooks"].clear(); }},
      {"webhook_certificate", "pods.crossover.dev: expected clientConfig.caBundle, got none",
       [](ClusterFacts* f) { First(f, "webhooks")["webhooks"][0]["clientConfig"].erase("caBundle"); }},
      {"relabelled_metrics",
       "PodMonitor crossover-system/crossover-deviceplugin: honorLabels: expected true, got none",
       [](ClusterFacts* f) {
         First(f, "pod_monitors")["spec"]["podMetricsEndpoints"][0].erase("honorLabels");
       }},
      {"two_owners", "node n1: expected slots alone, got 1 nvidia.com/gpu beside them",
       [](ClusterFacts* f) { First(f, "nodes")["status"]["allocatable"]["nvidia.com/gpu"] = "1"; }},
      {"two_owners", "another device plugin gives it out, as nvidia.com/gpu",
       [](ClusterFacts* f) {
         FirstGpu(f)["withheld"] = "another device plugin gives it out, as nvidia.com/gpu";
       }},
      {"gpu_operator", "node n1: label nvidia.com/gpu.deploy.operator-validator: expected false, got \"\"",
       [](ClusterFacts* f) {
         First(f, "nodes")["metadata"]["labels"]["nvidia.com/gpu.deploy.device-plugin"] = "false";
       }},
      {"gpu_operator", "node n1: label nvidia.com/gpu.deploy.device-plugin: expected false, got true",
       [](ClusterFacts* f) {
         json& labels = First(f, "nodes")["metadata"]["labels"];
         labels["nvidia.com/gpu.deploy.device-plugin"] = "true";
         labels["nvidia.com/gpu.deploy.operator-validator"] = "false";
       }},
      {"dra_driver", "n1 GPU-1: the DRA driver gpu.nvidia.com gives it out",
       [](ClusterFacts* f) {
         FirstGpu(f)["withheld"] = "the DRA driver gpu.nvidia.com gives it out";
         FirstGpu(f)["reason"] = "DraDriver";
       }},
      {"used_by_others", "a process of no pod",
       [](ClusterFacts* f) { FirstGpu(f)["withheld"] = "used by a process of no pod"; }},
      {"mps_takes_no_clients", "n1 GPU-1: MPS takes no new clients: its server is in FAULT",
       [](ClusterFacts* f) { FirstGpu(f)["withheld"] = "MPS takes no new clients: its server is in FAULT"; }},
      {"gpu_withheld", "Xid 79", [](ClusterFacts* f) { FirstGpu(f)["withheld"] = "Xid 79"; }},
      {"memory_unknown", "n1 GPU-1: memory: expected a size from the driver or node.gpu_memory, got neither",
       [](ClusterFacts* f) { FirstGpu(f)["reason"] = "MemoryUnknown"; }},
      {"missing_preload", "the library is not in it",
       [](ClusterFacts* f) {
         FirstGpu(f)["noTurns"] = "pod team/a-0 takes no part: the library is not in it";
       }},
      {"silent_library", "is not heard of",
       [](ClusterFacts* f) {
         FirstGpu(f)["noTurns"] = "pod team/a-0 takes no part: the library is in it and is not heard of";
       }},
      {"no_turns", "two ranks", [](ClusterFacts* f) { FirstGpu(f)["noTurns"] = "two ranks of gang a"; }},
      {"no_mps", "node n1: sharing: expected mps, got timeslice",
       [](ClusterFacts* f) { First(f, "gpu_nodes")["status"]["sharing"]["kind"] = "timeslice"; }},
      {"no_mps", "node n1: sharing: expected mps, got exclusive: the control daemon of MPS does not run",
       [](ClusterFacts* f) {
         First(f, "gpu_nodes")["status"]["sharing"] = {
             {"kind", "exclusive"},
             {"reason", "the control daemon of MPS does not run, and no pod needs it"}};
       }},
      {"uid_clash_under_mps",
       "node n1: expected pods of one user, got team/a-0 of user 1000, team/b-0 of user 2000",
       [](ClusterFacts* f) {
         json& container = f->lists["pods"][1]["spec"]["containers"][0];
         container["resources"]["limits"]["crossover.dev/slot"] = "1";
         container["securityContext"]["runAsUser"] = 2000;
       }},
      {"shm_hidden_under_mps", "pod team/a-0 on node n1: /dev/shm: expected the volume of the node",
       [](ClusterFacts* f) {
         json& container = First(f, "pods")["spec"]["containers"][0];
         container["resources"]["limits"]["crossover.dev/slot"] = "1";
         container["volumeMounts"] = {{{"name", "shm"}, {"mountPath", "/dev/shm"}}};
       }},
      {"slot_doubles", "GPU-1::0: expected one pod, got team/a-0 and team/b-0",
       [](ClusterFacts* f) { FirstGpu(f)["holders"][1]["slots"] = {"GPU-1::0"}; }},
      {"gang_collisions", "n1 GPU-1: team/a: expected one pod of the gang, got team/a-0 and team/b-0",
       [](ClusterFacts* f) { FirstGpu(f)["holders"][1]["gang"] = "team/a"; }},
      {"other_gpus", "pod team/a-0 on node n1: expected the GPUs GPU-2, got GPU-1",
       [](ClusterFacts* f) {
         First(f, "pods")["metadata"]["annotations"]["crossover.dev/assignment"] =
             R"({"containers": {"main": ["GPU-2"]}})";
       }},
      {"switched_off", "node n1: mode: expected enforce, got observe: namespace crossover-system",
       [](ClusterFacts* f) {
         First(f, "gpu_nodes")["status"]["mode"] = "observe";
         First(f, "gpu_nodes")["status"]["modeLimitedBy"] = "namespace crossover-system";
       }},
      {"maintenance", "n1",
       [](ClusterFacts* f) {
         First(f, "gpu_nodes")["status"]["maintenance"] = true;
         FirstGpu(f)["withheld"] = "the node is in maintenance";
       }},
      {"mistyped_switches", "crossover.dev/mode: expected enforce, observe or off, got Off",
       [](ClusterFacts* f) {
         First(f, "namespaces")["metadata"]["annotations"]["crossover.dev/mode"] = "Off";
       }},
      {"mistyped_switches", "crossover.dev/maintenance: expected an annotation, got a label",
       [](ClusterFacts* f) {
         First(f, "nodes")["metadata"]["labels"]["crossover.dev/maintenance"] = "true";
       }},
      {"quota_without_slots", "namespace team: quota: expected requests.crossover.dev/slot",
       [](ClusterFacts* f) { First(f, "quotas")["spec"]["hard"].erase("requests.crossover.dev/slot"); }},
      {"limit_range_on_gpus", "LimitRange team/sizes: max.nvidia.com/gpu: expected none, got 8",
       [](ClusterFacts* f) { First(f, "limit_ranges")["spec"]["limits"][0]["max"]["nvidia.com/gpu"] = "8"; }},
      {"kueue_quota_too_small",
       "flavor gpus: nvidia.com/gpu: expected a quota over 2, the number of its GPUs, got 2",
       [](ClusterFacts* f) { f->lists["cluster_queues"].erase(1); }},
      {"kueue_quota_too_small",
       "flavor gpus: crossover.dev/slot: expected a quota over 2, the number of its GPUs, got 2",
       [](ClusterFacts* f) {
         First(f, "cluster_queues")["spec"]["resourceGroups"][0]["flavors"][0]["resources"].push_back(
             {{"name", "crossover.dev/slot"}, {"nominalQuota", 2}});
       }},
      {"autoscaler_may_evict",
       "team/a-0: cluster-autoscaler.kubernetes.io/safe-to-evict: expected false, got true",
       [](ClusterFacts* f) {
         First(f, "pods")["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"] =
             "true";
       }},
      {"autoscaler_may_evict", "team/a-0: karpenter.sh/do-not-disrupt: expected true, got \"\"",
       [](ClusterFacts* f) {
         First(f, "pods")["metadata"]["annotations"].erase("karpenter.sh/do-not-disrupt");
       }},
      {"autoscaler_counts_unready",
       "node n1: label k8s.amazonaws.com/accelerator: expected none, got nvidia-h100",
       [](ClusterFacts* f) {
         First(f, "nodes")["metadata"]["labels"]["k8s.amazonaws.com/accelerator"] = "nvidia-h100";
       }},
      {"descheduler_may_evict",
       "team/a-0: descheduler.alpha.kubernetes.io/prefer-no-eviction: expected true, got \"\"",
       [](ClusterFacts* f) {
         First(f, "pods")["metadata"]["annotations"].erase(
             "descheduler.alpha.kubernetes.io/prefer-no-eviction");
       }},
      {"descheduler_may_evict",
       "kube-system/plain: expected noEvictionPolicy: Mandatory in each profile, got no such line",
       [](ClusterFacts* f) {
         f->lists["descheduler_of_manifests"] = json::parse(
             R"([{"metadata": {"name": "plain", "namespace": "kube-system"}, "data": {"policy.yaml":
             "kind: DeschedulerPolicy\nnoEvictionPolicy: Preferred\n"}}])");
       }},
      {"gang_over_unnamed_domains", "gang team/a on 2 nodes",
       [](ClusterFacts* f) {  // one of the nodes has a label of racks
         f->lists["gpu_nodes"][1]["status"]["gpus"][0]["holders"] =
             json::array({HolderOf("a-1", "team/a", "GPU-2::0")});
         f->lists["nodes"][0]["metadata"]["labels"]["example.com/rack"] = "r1";
       }},
      {"gang_over_unnamed_domains", "gang team/a on 2 nodes",
       [](ClusterFacts*
              f) {  // a label that no list of the configuration has, and one that is as wide as a zone
         f->lists["gpu_nodes"][1]["status"]["gpus"][0]["holders"] =
             json::array({HolderOf("a-1", "team/a", "GPU-2::0")});
         for (json& node : f->lists["nodes"]) {
           for (const char* key : {"com/rack", "topology", "topology.kubernetes.io/zone"})
             node["metadata"]["labels"][key] = "x";
         }
       }},
      {"gpu_model_without_speed", "\"A100\" of node n2: expected an entry in gangs.gpu_speeds, got none",
       [](ClusterFacts* f) {
         First(f, "gpu_nodes")["status"]["gpus"][0]["model"] = "H100 80GB";
         f->lists["gpu_nodes"][1]["status"]["gpus"][0]["model"] = "A100";
         First(f, "extender_config")["data"]["extender.yaml"] =
             "gangs:\n  gpu_speeds:\n    H100 80GB: 1\n    NVIDIA A100: 0.5\n    A1000: 0.5\n";
       }},
      {"gang_waits", "pod team/a-0: expected a node within 10 min, got none in 30 min",
       [](ClusterFacts* f) {
         First(f, "pods")["spec"].erase("nodeName");
         First(f, "pods")["metadata"]["creationTimestamp"] = "2027-01-15T07:30:00Z";
       }},
  };
  return faults;
}

std::set<std::string> Found(const ClusterFacts& facts) {
  std::set<std::string> found;
  for (const Finding& finding : ExamineCluster(facts)) {
    if (finding.verdict != Verdict::kOk) found.insert(finding.name + ": " + finding.seen);
  }
  return found;
}

TEST(ClusterChecksTest, AGangOverRacksThatLabelsNameIsWell) {
  ClusterFacts facts = SoundCluster();
  facts.lists["gpu_nodes"][1]["status"]["gpus"][0]["holders"] =
      json::array({HolderOf("a-1", "team/a", "GPU-2::0")});
  for (std::size_t node = 0; node < 2; ++node)
    facts.lists["nodes"][node]["metadata"]["labels"]["example.com/rack"] = "r" + std::to_string(node);
  EXPECT_EQ(Found(facts), std::set<std::string>());
  First(&facts, "extender_config")["data"]["extender.yaml"] = "gangs: {topology: [zone, example.com/row]}";
  EXPECT_EQ(Found(facts).size(), 1u);
  facts.lists["extender_config"].clear();
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "nothing is known of a configuration with another name";
}

TEST(ClusterChecksTest, SpeedsOfModelsMayBeLeftOut) {
  ClusterFacts facts = SoundCluster();
  First(&facts, "gpu_nodes")["status"]["gpus"][0]["model"] = "H100";
  facts.lists["gpu_nodes"][1]["status"]["gpus"][0]["model"] = "A100";
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "no speeds are named";
  json& config = First(&facts, "extender_config")["data"]["extender.yaml"];
  for (const char* text :
       {"gangs: {gpu_speeds: {H100: 1, A100: 0.5}}", "gangs: {gpu_speeds: {\"H100\": 1, 'A100': 1}}",
        "gangs:\n  gpu_speeds:\n    A100: 0.5\n    'H100': 1\n"}) {
    config = text;
    EXPECT_EQ(Found(facts), std::set<std::string>()) << text;
  }
  config = "gangs: {gpu_speeds: {L4: 1}}";
  facts.lists["gpu_nodes"].erase(1);
  for (const char* list : {"nodes", "programs"}) facts.lists[list].erase(1);
  EXPECT_EQ(std::ranges::count(
                ExamineCluster(facts), "gpu_model_without_speed",
                [](const Finding& finding) { return finding.verdict == Verdict::kOk ? "" : finding.name; }),
            0)
      << "all GPUs are alike";
}

TEST(ClusterChecksTest, NothingIsFoundWhereNothingIsWrong) {
  EXPECT_EQ(Found(SoundCluster()), std::set<std::string>());
  for (const Finding& finding : ExamineCluster(SoundCluster()))
    EXPECT_FALSE(finding.seen.empty()) << finding.name;
}

TEST(ClusterChecksTest, EachPlantedFaultIsFoundByItsNameAndNoOther) {
  for (const Planted& fault : Faults()) {
    SCOPED_TRACE(fault.check);
    ClusterFacts facts = SoundCluster();
    fault.plant(&facts);
    std::set<std::string> found;
    for (const Finding& finding : ExamineCluster(facts)) {
      if (finding.verdict == Verdict::kOk) continue;
      found.insert(finding.name);
      if (finding.name != fault.check) continue;
      EXPECT_THAT(finding.seen, HasSubstr(fault.seen));
      EXPECT_FALSE(finding.advice.empty());
    }
    EXPECT_EQ(found, std::set<std::string>({fault.check}));
  }
}

TEST(ClusterChecksTest, EachCheckHasAFaultThatItFinds) {
  std::set<std::string> planted, checks;
  for (const Planted& fault : Faults()) planted.insert(fault.check);
  for (const ClusterCheck& check : ClusterChecks()) checks.insert(check.name);
  EXPECT_EQ(planted, checks);
  EXPECT_GE(checks.size(), 20u);
  for (const char* name :
       {"two_owners", "uid_clash_under_mps", "missing_preload", "relabelled_metrics", "split_leadership"})
    EXPECT_TRUE(checks.contains(name)) << name;
}

// Returns the name of the only check that finds something if the first GPU is withheld so.
std::string FoundWhereWithheld(const char* text, const char* reason) {
  ClusterFacts facts = SoundCluster();
  FirstGpu(&facts)["withheld"] = text;
  if (reason != nullptr) FirstGpu(&facts)["reason"] = reason;
  std::string found;
  for (const Finding& finding : ExamineCluster(facts)) {
    if (finding.verdict != Verdict::kOk) found += finding.name;
  }
  return found;
}

TEST(ClusterChecksTest, AReasonIsReadByItsNameAndByItsWordsOnlyOfAnEarlierDaemon) {
  EXPECT_EQ(FoundWhereWithheld("in other words", "OtherPlugin"), "two_owners");
  EXPECT_EQ(FoundWhereWithheld("in other words", "ForeignProcess"), "used_by_others");
  EXPECT_EQ(FoundWhereWithheld("in other words", "MpsTakesNone"), "mps_takes_no_clients");
  EXPECT_EQ(FoundWhereWithheld("in other words", "Maintenance"), "") << "another check tells of it";
  EXPECT_EQ(FoundWhereWithheld("in other words", "Xid"), "gpu_withheld");
  EXPECT_EQ(FoundWhereWithheld("in other words", nullptr), "gpu_withheld");
  const char* words = "another device plugin gives it out";
  EXPECT_EQ(FoundWhereWithheld(words, nullptr), "two_owners");
  EXPECT_EQ(FoundWhereWithheld(words, "Xid"), "gpu_withheld") << "the name counts";
  EXPECT_EQ(FoundWhereWithheld(words, "OnFire"), "gpu_withheld") << "a later daemon means something else";
}

TEST(ClusterChecksTest, WhatCannotBeSeenIsNotCalledWell) {
  ClusterFacts facts = SoundCluster();
  facts.lists.erase("gpu_nodes");
  facts.unseen["gpu_nodes"] = "Error from server (Forbidden): gpunodes.crossover.dev is forbidden";
  int unknown = 0;
  for (const Finding& finding : ExamineCluster(facts)) {
    EXPECT_NE(finding.verdict, Verdict::kFail) << finding.name;
    if (finding.verdict != Verdict::kUnknown) continue;
    ++unknown;
    EXPECT_THAT(finding.seen, HasSubstr("Forbidden"));
  }
  EXPECT_GT(unknown, 10);
}

bool Fails(const ClusterFacts& facts, const std::string& check) {
  const auto findings = ExamineCluster(facts);
  return std::any_of(findings.begin(), findings.end(), [&check](const Finding& finding) {
    return finding.name == check && finding.verdict == Verdict::kFail;
  });
}

TEST(ClusterChecksTest, InTheNodesNetworkTheOneThatLeadsHasTheNodesName) {
  ClusterFacts facts = SoundCluster();
  json& holder = First(&facts, "leases")["spec"]["holderIdentity"];
  for (const char* host : {"n1.internal_4711", "n1_4711"}) {
    holder = host;
    facts.lists["programs"][4]["spec"]["hostNetwork"] = false;
    EXPECT_TRUE(Fails(facts, "nobody_leads")) << host << ": the control";
    facts.lists["programs"][4]["spec"]["hostNetwork"] = true;
    facts.lists["programs"][4]["spec"]["nodeName"] = "n1.internal";
    EXPECT_FALSE(Fails(facts, "nobody_leads")) << host;
  }
}

bool IsDaemonMissing(const ClusterFacts& facts) { return Fails(facts, "daemon_missing"); }

TEST(ClusterChecksTest, NodesThatTheDaemonSetLeavesOutNeedNoDaemon) {
  ClusterFacts facts = SoundCluster();
  json inference = Node("inference");
  inference["status"]["allocatable"] = {{"nvidia.com/gpu", "8"}};
  facts.lists["nodes"].push_back(inference);
  EXPECT_TRUE(IsDaemonMissing(facts)) << "the control";
  facts.lists["nodes"][3]["metadata"]["labels"].erase("nvidia.com/gpu.present");
  EXPECT_TRUE(IsDaemonMissing(facts)) << "it lacks the labels that the affinity of the daemon asks for";
  facts.lists["nodes"][3]["status"]["allocatable"]["nvidia.com/gpu"] = "1k";
  EXPECT_TRUE(IsDaemonMissing(facts)) << "as an API server writes 1000";
  facts.lists["nodes"][3] = inference;
  const auto daemon = [&facts]() -> json& {
    return First(&facts, "daemon_sets")["spec"]["template"]["spec"];
  };
  daemon()["nodeSelector"] = {{"pool", "training"}};
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "by its selector";
  daemon()["nodeSelector"] = {{"kubernetes.io/arch", "amd64"}, {"kubernetes.io/os", "linux"}};
  EXPECT_TRUE(IsDaemonMissing(facts)) << "its image does not run there";
  daemon()["nodeSelector"] = {{"pool", "training"}};
  facts.lists["gpu_nodes"].push_back({{"metadata", {{"name", "inference"}}}, {"status", {{"usedSlots", 1}}}});
  EXPECT_EQ(
      Found(facts),
      std::set<std::string>(
          {"stale_gpunode: GPUNode inference: expected a node daemon that keeps it up to date, got none"}))
      << "no pod holds that slot any more";
  facts.lists["pods"].push_back(Pod("c-0", "inference"));
  EXPECT_TRUE(IsDaemonMissing(facts)) << "pods hold slots there: it is left out by mistake";
  facts.lists["gpu_nodes"].erase(facts.lists["gpu_nodes"].size() - 1);
  json second = DaemonSet();
  second["metadata"]["namespace"] = "other";
  facts.lists["daemon_sets"].push_back(second);
  EXPECT_TRUE(IsDaemonMissing(facts)) << "another one lets it in";
  facts.lists["daemon_sets"].erase(1);
  daemon().erase("hostPID");
  EXPECT_TRUE(IsDaemonMissing(facts)) << "a user may call a DaemonSet so";
  facts.lists["daemon_sets"].clear();
  EXPECT_TRUE(IsDaemonMissing(facts)) << "no setting says that it is left out";
}

TEST(ClusterChecksTest, WhereTheDaemonSetCannotBeSeenItIsNotKnownWhoNeedsADaemon) {
  ClusterFacts facts = SoundCluster();
  facts.lists["programs"].erase(1);
  facts.lists.erase("daemon_sets");
  facts.unseen["daemon_sets"] = "Error from server (Forbidden): daemonsets.apps is forbidden";
  EXPECT_FALSE(IsDaemonMissing(facts));
  for (const Finding& finding : ExamineCluster(facts)) {
    if (finding.name != "daemon_missing") continue;
    EXPECT_EQ(finding.verdict, Verdict::kUnknown);
    EXPECT_THAT(finding.seen, HasSubstr("Forbidden"));
  }
}

// Gives node n1 back to another plugin. Its GPUNode stays, in mode off.
void MoveBack(ClusterFacts* facts) {
  First(facts, "daemon_sets")["spec"]["template"]["spec"]["nodeSelector"] = {{"pool", "training"}};
  facts->lists["programs"].erase(0);
  First(facts, "nodes")["status"]["allocatable"] = {{"nvidia.com/gpu", "1"}, {"crossover.dev/slot", "0"}};
  First(facts, "gpu_nodes")["status"]["mode"] = "off";
  facts->lists["pods"].clear();
}

TEST(ClusterChecksTest, OfANodeThatWentBackToAnotherPluginOnlyTheGpuNodeIsLeft) {
  ClusterFacts facts = SoundCluster();
  MoveBack(&facts);
  EXPECT_EQ(Found(facts),
            std::set<std::string>(
                {"stale_gpunode: GPUNode n1: expected a node daemon that keeps it up to date, got none"}));
  First(&facts, "nodes")["status"]["capacity"]["crossover.dev/slot"] = "2";
  EXPECT_EQ(Found(facts).size(), 2u) << "two_owners and switched_off: the kubelet knows that one is there";
}

TEST(ClusterChecksTest, ATagIsOfAVersionWhateverAMirrorPutsAroundIt) {
  ClusterFacts facts = SoundCluster();
  json& image = facts.lists["programs"][4]["spec"]["containers"][0]["image"];
  for (const char* same : {"0.1.0", "v0.1.0", "0.1.0-r1", "v0.1.0_2", "0.1.0+a"}) {
    image = std::string("r.example:5000/extender:") + same;
    EXPECT_EQ(Found(facts), std::set<std::string>()) << same;
  }
  for (const char* none :
       {"latest", "v1", "0.2", "0.2.0.1", "0.2.0rc", "0.2.-1", "v", "", "99999999999.0.0"}) {
    image = std::string("r.example:5000/extender:") + none;
    EXPECT_EQ(Found(facts), std::set<std::string>()) << none;
  }
  image = "r.example:5000/extender:0.2.0@sha256:00";
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "by its digest";
  image = "r.example:5000/extender:v0.2.0-r1";
  EXPECT_EQ(Found(facts),
            std::set<std::string>({"version_skew: version 0.1.0: crossover-system/extender-y and 2 more; "
                                   "version 0.2.0: crossover-system/extender-x"}));
}

TEST(ClusterChecksTest, WhereOurPodsCannotBeSeenEachGpuNodeCounts) {
  ClusterFacts facts = SoundCluster();
  First(&facts, "gpu_nodes")["status"]["maintenance"] = true;
  facts.lists.erase("programs");
  facts.unseen["programs"] = "Error from server (Forbidden): pods is forbidden";
  EXPECT_TRUE(Found(facts).contains(
      "maintenance: node n1: expected no maintenance, got the annotation crossover.dev/maintenance"));
}

TEST(ClusterChecksTest, TheUsersOfAPodAreThoseOfItsContainersWithSlots) {
  ClusterFacts facts = SoundCluster();
  json& spec = facts.lists["pods"][1]["spec"];
  spec["containers"][0]["resources"]["limits"]["crossover.dev/slot"] = "1";
  spec["containers"].push_back(json::parse(R"({"name": "proxy", "securityContext": {"runAsUser": 1337}})"));
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "the proxy uses no GPU";
  spec["containers"][0]["securityContext"]["runAsUser"] = 2000;
  EXPECT_EQ(Found(facts), std::set<std::string>({"uid_clash_under_mps: node n1: expected pods of one user, "
                                                 "got team/a-0 of user 1000, team/b-0 of user 2000"}));
  spec["containers"][0].erase("securityContext");
  spec["initContainers"] = json::parse(
      R"([{"name": "warm", "securityContext": {"runAsUser": 3000},
           "resources": {"limits": {"crossover.dev/slot": "1"}}}])");
  EXPECT_EQ(Found(facts), std::set<std::string>({"uid_clash_under_mps: node n1: expected pods of one user, "
                                                 "got team/a-0 of user 1000, team/b-0 of user 3000"}));
}

TEST(ClusterChecksTest, APodWithAUserNamespaceIsAnotherUser) {
  ClusterFacts facts = SoundCluster();
  facts.lists["pods"][1]["spec"]["hostUsers"] = false;
  EXPECT_EQ(Found(facts), std::set<std::string>({"uid_clash_under_mps: node n1: expected pods of one user, "
                                                 "got team/b-0 of a user of its own (hostUsers: "
                                                 "false), team/a-0 of user 1000"}));
  facts.lists["pods"][0]["spec"].erase("securityContext");
  EXPECT_EQ(Found(facts), std::set<std::string>({"uid_clash_under_mps: node n1: expected pods of one user, "
                                                 "got team/b-0 of a user of its own (hostUsers: "
                                                 "false), team/a-0 of another user"}))
      << "whichever its image names";
  facts.lists["gpu_nodes"][0]["status"]["sharing"]["multiUser"] = true;
  EXPECT_EQ(Found(facts), std::set<std::string>());
}

TEST(ClusterChecksTest, AVolumeAtShmOfAnInitContainerHidesItTooAndNoneOfAPodFromBeforeMps) {
  ClusterFacts facts = SoundCluster();
  json& pod = First(&facts, "pods");
  pod["spec"]["initContainers"] = json::parse(R"([{"name": "warm",
    "resources": {"limits": {"crossover.dev/slot": "1"}}, "volumeMounts": [{"name": "s", "mountPath": "/dev/shm"}]}])");
  EXPECT_EQ(Found(facts), std::set<std::string>({kHiddenAtFirst}));
  FirstGpu(&facts)["withheld"] = "pod team/b-0 is on it, which was started without MPS";
  EXPECT_FALSE(Found(facts).contains(kHiddenAtFirst));
}

TEST(ClusterChecksTest, MpsForSeveralUsersServesThem) {
  ClusterFacts facts = SoundCluster();
  facts.lists["pods"][1]["spec"]["securityContext"]["runAsUser"] = 2000;
  facts.lists["gpu_nodes"][0]["status"]["sharing"]["multiUser"] = true;
  EXPECT_EQ(Found(facts), std::set<std::string>());
}

TEST(ClusterChecksTest, ObjectsMayBeAnything) {
  for (const json& junk : {json(7), json("x"), json::array({1, json::array()}), json({{"metadata", 3}}),
                           json({{"status", {{"gpus", {1, "x", {{"holders", 5}}}}}}})}) {
    ClusterFacts facts = SoundCluster();
    for (auto& [name, items] : facts.lists) items = json::array({junk, nullptr});
    ExamineCluster(facts);
  }
}

TEST(ClusterChecksTest, WithoutAnAutoscalerNothingIsExpectedOfPodsAndNodes) {
  ClusterFacts facts = SoundCluster();
  First(&facts, "pods")["metadata"]["annotations"].erase("karpenter.sh/do-not-disrupt");
  First(&facts, "pods")["metadata"]["annotations"].erase("cluster-autoscaler.kubernetes.io/safe-to-evict");
  First(&facts, "nodes")["metadata"]["labels"]["k8s.amazonaws.com/accelerator"] = "nvidia-h100";
  EXPECT_EQ(Found(facts).size(), 2u) << "the control";
  facts.lists["autoscaler_status"].clear();
  facts.lists["node_pools"].clear();
  EXPECT_EQ(Found(facts), std::set<std::string>());
}

TEST(ClusterChecksTest, PodsOfANodeThatClusterAutoscalerKeepsNeedNoAnnotation) {
  ClusterFacts facts = SoundCluster();
  First(&facts, "pods")["metadata"]["annotations"].erase("cluster-autoscaler.kubernetes.io/safe-to-evict");
  EXPECT_EQ(Found(facts).size(), 1u) << "the control";
  for (json& node : facts.lists["nodes"])
    node["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/scale-down-disabled"] = "true";
  EXPECT_EQ(Found(facts), std::set<std::string>());
}

TEST(ClusterChecksTest, ADeschedulerThatLeavesOurPodsOutNeedsNoAnnotation) {
  ClusterFacts facts = SoundCluster();
  First(&facts, "pods")["metadata"]["annotations"].erase(
      "descheduler.alpha.kubernetes.io/prefer-no-eviction");
  EXPECT_EQ(Found(facts).size(), 1u) << "the control";
  First(&facts, "descheduler_of_chart")["data"]["policy.yaml"] =
      "kind: DeschedulerPolicy\nlabelSelector: {matchExpressions: [{key: crossover.dev/managed}]}\n";
  EXPECT_EQ(Found(facts), std::set<std::string>());
  First(&facts, "descheduler_of_chart")["data"] = {{"policy.yaml", "something else"}, {"other", 7}};
  EXPECT_EQ(Found(facts), std::set<std::string>()) << "it is no policy of a Descheduler";
}

TEST(ClusterChecksTest, ManyPlacesAreCounted) {
  ClusterFacts facts = SoundCluster();
  for (int i = 0; i < 6; ++i)
    facts.lists["quotas"].push_back(
        json::parse(R"({"metadata": {"namespace": "m)" + std::to_string(i) +
                    R"("}, "spec": {"hard": {"requests.nvidia.com/gpu": "1"}}})"));
  bool found = false;
  for (const Finding& finding : ExamineCluster(facts)) {
    if (finding.name != "quota_without_slots") continue;
    found = true;
    EXPECT_THAT(finding.seen, HasSubstr("namespace m0: "));
    EXPECT_THAT(finding.seen, HasSubstr("; namespace m2: "));
    EXPECT_THAT(finding.seen, EndsWith("; and 3 more"));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace crossover::cli
