#include "extender/gang/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/profile_key.h"
#include "extender/gang/owner_kinds.h"

namespace crossover::extender {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::StrEq;

Pod PodWith(Labels labels, Labels annotations = {}) {
  Pod pod;
  pod.uid = "uid-1";
  pod.name_space = "team";
  pod.name = "pod-1";
  pod.labels = std::move(labels);
  pod.annotations = std::move(annotations);
  return pod;
}

json Template(bool gpus = true, bool shares = true) {
  json limits = json::object(), annotations = json::object();
  if (gpus) limits["nvidia.com/gpu"] = "1";
  if (gpus && shares) annotations["crossover.dev/share"] = "true";
  return {{"metadata", {{"annotations", annotations}}},
          {"spec", {{"containers", {{{"name", "c"}, {"resources", {{"limits", limits}}}}}}}}};
}

TEST(Membership, WithoutAnOwnerItIsAGangOfOne) {
  const Membership gang = MembershipOf(PodWith({}));
  EXPECT_EQ(gang.size, 1);
  EXPECT_THAT(gang.id, HasSubstr("uid-1"));
  EXPECT_EQ(gang.fault + gang.aside, "");
}

TEST(Membership, AnnotationsComeFirst) {
  const Pod pod =
      PodWith({{"batch.kubernetes.io/job-name", "j"}, {"batch.kubernetes.io/job-completion-index", "0"}},
              {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", "3"}});
  const Membership gang = MembershipOf(pod);
  EXPECT_EQ(gang.name, "g");
  EXPECT_EQ(gang.size, 3);
  EXPECT_FALSE(gang.owner);
}

TEST(Membership, MalformedSizesNameKeyValueAndWhatIsAllowed) {
  for (const char* size : {"0", "-1", "x", "3x", "", "1000001", "1000000000000"}) {
    const Membership gang =
        MembershipOf(PodWith({}, {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", size}}));
    EXPECT_EQ(gang.fault, "crossover.dev/gang-size: expected a number of pods from 1 to 1000000, got " +
                              std::string(*size == '\0' ? "\"\"" : size));
  }
  const Pod most = PodWith({}, {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", "1000000"}});
  EXPECT_EQ(MembershipOf(most).size, 1'000'000);
  EXPECT_EQ(MembershipOf(most).fault, "");
  EXPECT_THAT(MembershipOf(PodWith({}, {{"crossover.dev/gang", "g"}})).fault,
              StrEq("crossover.dev/gang-size: expected a number of pods from 1 to 1000000 beside "
                    "crossover.dev/gang: g, got none"));
}

TEST(Membership, IndexedJobsSizeIsRead) {
  const Pod pod =
      PodWith({{"batch.kubernetes.io/job-name", "j"}, {"batch.kubernetes.io/controller-uid", "a"}},
              {{"batch.kubernetes.io/job-completion-index", "0"}});
  const Membership before = MembershipOf(pod);
  EXPECT_EQ(before.size, 0);
  ASSERT_TRUE(before.owner);
  EXPECT_EQ(*before.owner, (OwnerRef{"batch/v1", "Job", "team", "j", "/a"}));
  const OwnerFacts facts =
      ReadOwner({{"apiVersion", "batch/v1"},
                 {"kind", "Job"},
                 {"spec", {{"parallelism", 8}, {"completions", 4}, {"template", Template()}}}});
  EXPECT_EQ(MembershipOf(pod, &facts).size, 4);
  // Without an index the pods of a Job do not know of each other, and each is a gang of one.
  EXPECT_EQ(MembershipOf(PodWith({{"batch.kubernetes.io/job-name", "j"}})).size, 1);
}

// Returns the job of a pod that this controller made.
std::string JobOf(const Owner& owner, Labels labels = {}) {
  Pod pod = PodWith(std::move(labels));
  pod.owner = owner;
  const Membership gang = MembershipOf(pod);
  EXPECT_EQ(gang.size, 1) << owner.kind;
  EXPECT_EQ(gang.known, Known::kNotKnown) << owner.kind;
  EXPECT_THAT(AboutGang(gang), HasSubstr("no two of them share a GPU")) << owner.kind;
  return gang.job;
}

TEST(Membership, PodsOfAnOwnerThatIsNotKnownHaveOneJob) {
  for (const Owner& owner :
       {Owner{"apps/v1", "StatefulSet", "t", "a"}, Owner{"apps/v1", "ReplicaSet", "t", "a"},
        Owner{"batch/v1", "Job", "t", "a"}, Owner{"team.dev/v1", "Train", "t", "a"},
        Owner{"ray.io/v1", "RayCluster", "t", "a"}, Owner{"v1", "ReplicationController", "t", "a"}}) {
    Owner other = owner;
    other.uid = "b";
    EXPECT_NE(JobOf(owner), "");
    EXPECT_EQ(JobOf(owner), JobOf(owner));
    EXPECT_NE(JobOf(owner), JobOf(other)) << owner.kind << " of the same name that was made anew";
  }
  const Membership bare = MembershipOf(PodWith({}));
  EXPECT_EQ(bare.known, Known::kBare);
  EXPECT_EQ(bare.job + AboutGang(bare), "");
}

TEST(Membership, OldAndNewPodsOfADeploymentHaveOneJob) {
  const auto job = [](const char* name, const char* hash) {
    return JobOf({"apps/v1", "ReplicaSet", std::string(name) + "-" + hash, hash},
                 {{"pod-template-hash", hash}});
  };
  EXPECT_EQ(job("web", "5d4f"), job("web", "77c8"));
  EXPECT_NE(job("web", "5d4f"), job("other", "5d4f"));
  EXPECT_NE(JobOf({"apps/v1", "ReplicaSet", "own", "a"}, {{"pod-template-hash", "77c8"}}),
            JobOf({"apps/v1", "ReplicaSet", "own", "b"}, {{"pod-template-hash", "77c8"}}))
      << "no Deployment made them";
}

TEST(Membership, PodsOfARayClusterHaveOneJobWhicheverOwnerMakesThem) {
  const Labels labels = {{"ray.io/cluster", "train"}, {"ray.io/node-type", "worker"}};
  EXPECT_EQ(JobOf({"ray.io/v1", "RayCluster", "train", "a"}, labels),
            JobOf({"team.dev/v1", "Group", "g", "b"}, labels));
}

TEST(Membership, WhatIsMissingIsSaidOfAnOwnerThatIsNotKnown) {
  Pod pod = PodWith({});
  pod.owner = Owner{"apps/v1", "StatefulSet", "train", "a"};
  EXPECT_EQ(
      AboutGang(MembershipOf(pod)),
      "StatefulSet train: expected crossover.dev/gang and crossover.dev/gang-size, or an owner of a known "
      "kind, got neither: its pods are placed one by one, and no two of them share a GPU");
  pod.owner = Owner{"batch/v1", "Job", "train", "a"};
  EXPECT_THAT(
      AboutGang(MembershipOf(pod)),
      StartsWith("Job train: expected crossover.dev/gang and crossover.dev/gang-size, or completionMode: "
                 "Indexed, got neither"));
  pod.annotations = {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", "3"}};
  EXPECT_EQ(AboutGang(MembershipOf(pod)), "");
  EXPECT_EQ(MembershipOf(pod).job, "") << "its user says which pods are one job";
}

TEST(Membership, AdmissionIsToldOfAPodThatHasNoNameYet) {
  const auto about = [](const json& owner, const json& annotations) {
    return AboutGangOf(
        {{"metadata", {{"generateName", "p-"}, {"annotations", annotations}, {"ownerReferences", {owner}}}}},
        "team");
  };
  const json set = {
      {"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"name", "t"}, {"uid", "a"}, {"controller", true}};
  json job = set;
  job["kind"] = "Job";
  EXPECT_THAT(about(set, json::object()), StartsWith("StatefulSet t: expected crossover.dev/gang"));
  EXPECT_EQ(about(set, {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", "2"}}), "");
  EXPECT_EQ(about(job, json::object()), "");
  EXPECT_EQ(about(nullptr, json::object()), "");
  for (const json& pod : {json(), json::array(), json{{"metadata", 3}}})
    EXPECT_EQ(AboutGangOf(pod, "team"), "");
}

TEST(Membership, IncarnationsDoNotMix) {
  const auto id = [](const char* attempt) {
    return MembershipOf(PodWith({{"jobset.sigs.k8s.io/jobset-name", "s"},
                                 {"jobset.sigs.k8s.io/jobset-uid", "u"},
                                 {"jobset.sigs.k8s.io/restart-attempt", attempt}}))
        .id;
  };
  EXPECT_NE(id("0"), id("1"));
  EXPECT_EQ(id("1"), id("1"));
  const auto of_job = [](const char* uid) {
    return MembershipOf(PodWith({{"batch.kubernetes.io/job-name", "j"},
                                 {"batch.kubernetes.io/controller-uid", uid},
                                 {"batch.kubernetes.io/job-completion-index", "0"}}))
        .id;
  };
  EXPECT_NE(of_job("a"), of_job("b"));
}

// Each kind says in its own way which pods have done their work.
TEST(Owner, SaysWhatHasDoneItsWork) {
  const auto part = [](const char* kind, const char* api, const json& spec, const json& status,
                       const std::string& name) {
    return ReadOwner({{"kind", kind}, {"apiVersion", api}, {"spec", spec}, {"status", status}})
        .parts.at(name);
  };
  const json job = {{"parallelism", 2}, {"completions", 9}, {"template", Template()}};
  EXPECT_EQ(part("Job", "batch/v1", job, {{"succeeded", 3}}, ""), (Part{.pods = 2, .most = 9, .done = 3}));
  EXPECT_EQ(part("Job", "batch/v1", job, {{"succeeded", 1}, {"failedIndexes", "0,3-5"}}, "").done, 5);
  for (const char* wrong : {"x", "5-3", "-", ",", "3-x", "1-99999999999999999999"})
    EXPECT_EQ(part("Job", "batch/v1", job, {{"failedIndexes", wrong}}, "").done, 0) << wrong;
  EXPECT_EQ(part("Job", "batch/v1", job, {{"failedIndexes", "0-2147483647"}}, "").done, 100'000);

  const json replicas = {{"Worker", {{"replicas", 4}, {"template", Template()}}}};
  const json done = {{"replicaStatuses", {{"Worker", {{"succeeded", 1}}}}}};
  const Part workers{.pods = 4, .most = 4, .done = 1};
  EXPECT_EQ(part("PyTorchJob", "kubeflow.org/v1", {{"pytorchReplicaSpecs", replicas}}, done, "worker"),
            workers);
  EXPECT_EQ(part("TFJob", "kubeflow.org/v1", {{"tfReplicaSpecs", replicas}}, done, "worker"), workers);
  EXPECT_EQ(part("XGBoostJob", "kubeflow.org/v1", {{"xgbReplicaSpecs", replicas}}, done, "worker"), workers);
  EXPECT_EQ(part("PaddleJob", "kubeflow.org/v1", {{"paddleReplicaSpecs", replicas}}, done, "worker"),
            workers);
  EXPECT_EQ(part("JAXJob", "kubeflow.org/v1", {{"jaxReplicaSpecs", replicas}}, done, "worker"), workers);
  for (const char* api : {"kubeflow.org/v1", "kubeflow.org/v2beta1"})
    EXPECT_EQ(part("MPIJob", api, {{"mpiReplicaSpecs", replicas}}, done, "worker"), workers) << api;

  const json jobs = {
      {"replicatedJobs",
       {{{"name", "w"},
         {"replicas", 3},
         {"template", {{"spec", {{"parallelism", 2}, {"completions", 4}, {"template", Template()}}}}}}}}};
  const json sets = {{"replicatedJobsStatus", {{{"name", "w"}, {"succeeded", 2}}}}};
  EXPECT_EQ(part("JobSet", "jobset.x-k8s.io/v1alpha2", jobs, sets, "w"),
            (Part{.groups = 3, .pods = 2, .most = 4, .done_groups = 2}));

  const json group = {{"leaderWorkerTemplate", {{"size", 4}, {"workerTemplate", Template()}}}};
  EXPECT_EQ(part("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", group, {{"replicas", 2}}, ""),
            (Part{.pods = 3, .most = 3}));
}

TEST(Owner, SaysThatTheJobHasEnded) {
  const auto ended = [](const char* kind, const char* api, const char* type, const char* status) {
    return ReadOwner({{"kind", kind},
                      {"apiVersion", api},
                      {"status", {{"conditions", {{{"type", type}, {"status", status}}}}}}})
        .ended;
  };
  EXPECT_TRUE(ended("Job", "batch/v1", "SuccessCriteriaMet", "True"));
  EXPECT_TRUE(ended("Job", "batch/v1", "Complete", "True"));
  EXPECT_TRUE(ended("Job", "batch/v1", "FailureTarget", "True"));
  EXPECT_TRUE(ended("JobSet", "jobset.x-k8s.io/v1alpha2", "Completed", "True"));
  EXPECT_TRUE(ended("PyTorchJob", "kubeflow.org/v1", "Succeeded", "True"));
  EXPECT_TRUE(ended("MPIJob", "kubeflow.org/v2beta1", "Failed", "True"));
  EXPECT_FALSE(ended("Job", "batch/v1", "Suspended", "True"));
  EXPECT_FALSE(ended("PyTorchJob", "kubeflow.org/v1", "Succeeded", "False"));
  EXPECT_FALSE(ended("PyTorchJob", "kubeflow.org/v1", "Running", "True"));
}

TEST(Membership, UnitsTellTheReplicasOfAJobSetApart) {
  const Unit unit = UnitOf(PodWith({{"jobset.sigs.k8s.io/jobset-name", "s"},
                                    {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                                    {"jobset.sigs.k8s.io/job-index", "1"}}));
  EXPECT_EQ(unit.part, "workers");
  EXPECT_EQ(unit.group, "1");
  EXPECT_EQ(UnitOf(PodWith({})).part, "");
}

json JobSetOf(const std::string& order) {  // of 1 + 6 pods with GPUs, and one without
  const auto part = [](const char* name, int replicas, int parallelism, bool gpus) -> json {
    return {{"name", name},
            {"replicas", replicas},
            {"template", {{"spec", {{"parallelism", parallelism}, {"template", Template(gpus)}}}}}};
  };
  return {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
          {"kind", "JobSet"},
          {"spec",
           {{"startupPolicy", {{"startupPolicyOrder", order}}},
            {"replicatedJobs",
             {part("driver", 1, 1, true), part("workers", 2, 3, true), part("web", 1, 1, false)}}}}};
}

TEST(Membership, JobSetsAreWholeOrByStage) {
  const Pod pod = PodWith({{"jobset.sigs.k8s.io/jobset-name", "s"},
                           {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                           {"batch.kubernetes.io/job-name", "s-workers-0"},
                           {"batch.kubernetes.io/job-completion-index", "0"}});
  const OwnerFacts any = ReadOwner(JobSetOf("AnyOrder"));
  EXPECT_EQ(MembershipOf(pod, &any).size, 7);
  const OwnerFacts ordered = ReadOwner(JobSetOf("InOrder"));
  EXPECT_EQ(MembershipOf(pod, &ordered).size, 6);
  EXPECT_THAT(MembershipOf(pod, &ordered).id, ::testing::EndsWith("/workers"));
}

TEST(Membership, PartsThatDependOnOthersAreStages) {
  const Pod pod = PodWith({{"jobset.sigs.k8s.io/jobset-name", "s"},
                           {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                           {"batch.kubernetes.io/job-completion-index", "0"}});
  json set = JobSetOf("AnyOrder");
  set["spec"]["replicatedJobs"][1]["dependsOn"] = json::array();
  const OwnerFacts together = ReadOwner(set);
  EXPECT_EQ(MembershipOf(pod, &together).size, 7);
  set["spec"]["replicatedJobs"][1]["dependsOn"] = {{{"name", "driver"}, {"status", "Ready"}}};
  const OwnerFacts one_by_one = ReadOwner(set);
  EXPECT_EQ(MembershipOf(pod, &one_by_one).size, 6);
  EXPECT_THAT(MembershipOf(pod, &one_by_one).id, ::testing::EndsWith("/workers"));
  Pod driver = pod;
  driver.labels["jobset.sigs.k8s.io/replicatedjob-name"] = "driver";
  EXPECT_EQ(MembershipOf(driver, &one_by_one).job, MembershipOf(pod, &one_by_one).job);
  EXPECT_NE(MembershipOf(pod, &one_by_one).job, "");
  EXPECT_EQ(MembershipOf(pod, &together).job, "");
}

TEST(Membership, PartsThatDoNotShareAreNotCounted) {
  json set = JobSetOf("AnyOrder");
  json& driver = set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"];
  driver = Template(true, false);
  EXPECT_EQ(ReadOwner(set).total(), 6);
  // No template has the annotation, so the pods get it in another way.
  for (json& part : set["spec"]["replicatedJobs"]) part["template"]["spec"]["template"] = driver;
  EXPECT_EQ(ReadOwner(set).total(), 8);
}

TEST(Membership, LeaderFirst) {
  json set = {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
              {"kind", "LeaderWorkerSet"},
              {"spec",
               {{"startupPolicy", "LeaderReady"},
                {"leaderWorkerTemplate", {{"size", 4}, {"workerTemplate", Template()}}}}}};
  const auto pod = [](const char* index) {
    return PodWith({{"leaderworkerset.sigs.k8s.io/name", "l"},
                    {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                    {"leaderworkerset.sigs.k8s.io/worker-index", index}});
  };
  const OwnerFacts facts = ReadOwner(set);
  EXPECT_EQ(MembershipOf(pod("0"), &facts).size, 1);
  EXPECT_EQ(MembershipOf(pod("2"), &facts).size, 3);
  EXPECT_NE(MembershipOf(pod("0"), &facts).id, MembershipOf(pod("2"), &facts).id);
  EXPECT_EQ(MembershipOf(pod("1"), &facts).id, MembershipOf(pod("2"), &facts).id);
  set["spec"]["startupPolicy"] = "LeaderCreated";
  const OwnerFacts together = ReadOwner(set);
  EXPECT_EQ(MembershipOf(pod("2"), &together).size, 4);
}

// Returns a pod as the MPI operator makes it.
Pod MpiPod(const char* role, Owner owner) {
  Pod pod = PodWith({{"training.kubeflow.org/operator-name", "mpi-operator"},
                     {"training.kubeflow.org/job-name", "t"},
                     {"training.kubeflow.org/job-role", role}});
  pod.owner = std::move(owner);
  return pod;
}

json MpiJobOf(const char* policy, bool launcher_has_gpus) {
  return {{"apiVersion", "kubeflow.org/v2beta1"},
          {"kind", "MPIJob"},
          {"metadata", {{"uid", "uid-9"}}},
          {"spec",
           {{"launcherCreationPolicy", policy},
            {"mpiReplicaSpecs",
             {{"Launcher", {{"replicas", 1}, {"template", Template(launcher_has_gpus)}}},
              {"Worker", {{"replicas", 4}, {"template", Template()}}}}}}}};
}

TEST(Membership, MpiWorkersAreCounted) {
  const Pod pod = MpiPod("worker", {"kubeflow.org/v2beta1", "MPIJob", "t", "uid-9"});
  for (const char* policy : {"AtStartup", "WaitForWorkersReady"}) {
    const OwnerFacts facts = ReadOwner(MpiJobOf(policy, false));
    EXPECT_EQ(MembershipOf(pod, &facts).size, 4) << policy;
    EXPECT_EQ(MembershipOf(pod, &facts).fault, "") << policy;
  }
  const OwnerFacts facts = ReadOwner(MpiJobOf("AtStartup", false));
  EXPECT_THAT(MembershipOf(pod, &facts).id, ::testing::EndsWith("/uid-9"));
}

// A Job makes the launcher, so its pod's owner is not the MPIJob that the pod names.
TEST(Membership, AnMpiLauncherWithGpusIsOfItsWorkersGang) {
  const Pod worker = MpiPod("worker", {"kubeflow.org/v2beta1", "MPIJob", "t", "uid-9"});
  const Pod launcher = MpiPod("launcher", {"batch/v1", "Job", "t-launcher", "uid-of-job"});
  ASSERT_TRUE(OwnerOf(launcher));
  EXPECT_EQ(OwnerOf(launcher)->kind, "MPIJob");
  EXPECT_EQ(OwnerOf(launcher)->name, "t");
  const OwnerFacts together = ReadOwner(MpiJobOf("AtStartup", true));
  EXPECT_EQ(MembershipOf(worker, &together).size, 5);
  EXPECT_EQ(MembershipOf(launcher, &together).size, 5);
  EXPECT_EQ(MembershipOf(launcher, &together).id, MembershipOf(worker, &together).id);
  const OwnerFacts later = ReadOwner(MpiJobOf("WaitForWorkersReady", true));
  EXPECT_EQ(MembershipOf(worker, &later).size, 4);
  EXPECT_EQ(MembershipOf(launcher, &later).size, 1);
  EXPECT_NE(MembershipOf(launcher, &later).id, MembershipOf(worker, &later).id);
  const Pod other = MpiPod("launcher", {"batch/v1", "Job", "other", "uid-of-job"});
  EXPECT_EQ(MembershipOf(other).size, 1) << "a Job of another owner";
}

TEST(Membership, KubeflowCountsReplicasWithGpus) {
  Pod pod =
      PodWith({{"training.kubeflow.org/job-name", "t"}, {"training.kubeflow.org/replica-type", "worker"}});
  pod.owner = Owner{"kubeflow.org/v1", "PyTorchJob", "t", "uid-9"};
  const json job = {{"apiVersion", "kubeflow.org/v1"},
                    {"kind", "PyTorchJob"},
                    {"spec",
                     {{"pytorchReplicaSpecs",
                       {{"Master", {{"replicas", 1}, {"template", Template(false)}}},
                        {"Worker", {{"replicas", 4}, {"template", Template()}}}}}}}};
  const OwnerFacts facts = ReadOwner(job);
  EXPECT_EQ(MembershipOf(pod, &facts).size, 4);
  EXPECT_THAT(MembershipOf(pod, &facts).id, ::testing::EndsWith("/uid-9"));
}

TEST(Membership, KueueSaysTheSize) {
  const Labels label = {{"kueue.x-k8s.io/pod-group-name", "g"}};
  EXPECT_EQ(MembershipOf(PodWith(label, {{"kueue.x-k8s.io/pod-group-total-count", "5"}})).size, 5);
  EXPECT_THAT(
      MembershipOf(PodWith(label, {{"kueue.x-k8s.io/pod-group-total-count", "many"}})).fault,
      StrEq("kueue.x-k8s.io/pod-group-total-count: expected a number of pods from 1 to 1000000, got many"));
}

TEST(Membership, StandsBackFromOtherGangSchedulers) {
  const Labels ours = {{"crossover.dev/gang", "g"}, {"crossover.dev/gang-size", "3"}};
  EXPECT_THAT(MembershipOf(PodWith({{"scheduling.x-k8s.io/pod-group", "p"}}, ours)).aside,
              HasSubstr("coscheduling"));
  EXPECT_THAT(MembershipOf(PodWith({}, {{"scheduling.k8s.io/group-name", "p"}})).aside, HasSubstr("Volcano"));
  for (const char* how : {"required", "preferred", "unconstrained"}) {
    const std::string key = std::string("kueue.x-k8s.io/podset-") + how + "-topology";
    EXPECT_THAT(MembershipOf(PodWith({}, {{key, "rack"}})).aside, HasSubstr("Kueue")) << how;
  }
  Pod upstream = PodWith({}, ours);
  upstream.pod_group = "p";
  EXPECT_THAT(MembershipOf(upstream).aside, HasSubstr("Kubernetes' own"));
  EXPECT_EQ(MembershipOf(upstream).size, 1);
}

// Two tables have the labels of owners. A pod that one of them knows and the other does not would be in a
// gang and have no name for its job.
TEST(Owner, EachKindNamesItsJobForTheProfileKeyToo) {
  for (const OwnerKind& kind : OwnerKinds()) {
    std::map<std::string, std::string> labels = {{kind.name, "mine"}};
    EXPECT_EQ(kube::JobNamedBy(labels), "mine") << kind.name;
    if (*kind.index == '\0') continue;
    labels[kind.index] = "3";
    EXPECT_EQ(kube::JobNamedBy(labels), "mine-3") << kind.name << ", " << kind.index;
  }
}

TEST(Owner, HostileObjectsSayNothing) {
  for (const json& object : {json(), json::array(), json{{"kind", 3}},
                             json{{"kind", "Job"}, {"apiVersion", "batch/v1"}, {"spec", "x"}},
                             json{{"kind", "JobSet"},
                                  {"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                                  {"spec", {{"replicatedJobs", 7}}}}}) {
    EXPECT_EQ(ReadOwner(object).total(), 0);
  }
}

TEST(Owner, SizesAreCutToWhatCouldBe) {
  const json limits = {{"limits", {{"crossover.dev/slot", "1"}}}};
  const json pod = {{"containers", {{{"name", "main"}, {"resources", limits}}}}};
  const json job = {{"parallelism", 50'000}, {"completions", 50'000}, {"template", {{"spec", pod}}}};
  const json part = {{"name", "w"}, {"replicas", 50'000}, {"template", {{"spec", job}}}};
  EXPECT_EQ(ReadOwner({{"kind", "JobSet"},
                       {"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                       {"spec", {{"replicatedJobs", json::array({part, part})}}}})
                .total(),
            100'000);
}

}  // namespace
}  // namespace crossover::extender
