#include "extender/gang/need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "extender/gang/gangs.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

// Tests a JobSet of two workers Jobs. Each runs two pods at a time, and has four in all.
class NeedTest : public ::testing::Test {
 protected:
  enum class State { kWaits, kDone, kFailed };

  NeedTest() { gangs_ = std::make_unique<Gangs>(world_, GangSettings{}, nullptr, "e"); }

  void Put(const char* group, State state) {
    Pod pod;
    pod.uid = pod.name = "u" + std::to_string(pods_++);
    pod.name_space = "team";
    pod.labels = {{"jobset.sigs.k8s.io/jobset-name", "s"},
                  {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                  {"jobset.sigs.k8s.io/job-index", group}};
    if (state != State::kWaits) pod.node = "n0", pod.over = true;
    pod.failed = state == State::kFailed;
    Container container;
    container.name = "main";
    container.slots = 1;
    pod.containers = {container};
    const std::string uid = pod.uid;
    world_.Put(std::move(pod));
    gangs_->PodChanged(uid, now_s_);
  }
  // Answers the read of the JobSet. `completions` is null for a work queue.
  void Read(const json& completions, int succeeded) {
    const json limits = {{"limits", {{base::kSlotResource, "1"}}}};
    const json pod = {{"spec", {{"containers", {{{"name", "main"}, {"resources", limits}}}}}}};
    json spec = {{"parallelism", 2}, {"template", pod}};
    if (!completions.is_null()) spec["completions"] = completions;
    const json part = {{"name", "w"}, {"replicas", 2}, {"template", {{"spec", spec}}}};
    const json status = {{"name", "w"}, {"succeeded", succeeded}};
    const json set = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                      {"kind", "JobSet"},
                      {"spec", {{"replicatedJobs", json::array({part})}}},
                      {"status", {{"replicatedJobsStatus", json::array({status})}}}};
    for (const Action& action : gangs_->Step(now_s_))
      if (action.kind == Action::Kind::kReadOwner) gangs_->OwnerRead(action.id, set, "", now_s_);
    now_s_ += 1;
  }
  int Need() {
    const GangRecord& gang = gangs_->desk().gangs.begin()->second;
    return NeedOf(gangs_->desk(), gang, CountOf(gangs_->desk(), gang));
  }

  World world_;
  std::unique_ptr<Gangs> gangs_;
  double now_s_ = 1000;
  int pods_ = 0;
};

TEST_F(NeedTest, IsNotKnownBeforeTheOwnerIsRead) {
  Put("0", State::kWaits);
  gangs_->Step(now_s_);
  EXPECT_EQ(Need(), 0);
}

TEST_F(NeedTest, IsAllPodsWhileNoneHasDoneItsWork) {
  Put("0", State::kWaits);
  Put("0", State::kFailed);
  Read(4, 0);
  EXPECT_EQ(Need(), 4);
}

TEST_F(NeedTest, CountsEachGroupByItself) {
  Put("1", State::kWaits);
  for (int i = 0; i < 3; ++i) Put("0", State::kDone);
  Read(4, 0);
  EXPECT_EQ(Need(), 3) << "one pod is left of group 0, two are to run of group 1";
  Put("0", State::kDone);
  EXPECT_EQ(Need(), 2);
}

// The pods of a Job that has ended may have been removed.
TEST_F(NeedTest, AGroupThatTheOwnerCallsDoneNeedsNoPods) {
  Put("1", State::kWaits);
  Read(4, 1);
  EXPECT_EQ(Need(), 2);
}

TEST_F(NeedTest, AGroupThatIsSeenAndCountedIsCountedOnce) {
  Put("1", State::kWaits);
  for (int i = 0; i < 4; ++i) Put("0", State::kDone);
  Read(4, 1);
  EXPECT_EQ(Need(), 2);
}

TEST_F(NeedTest, AWorkQueueMakesNoPodsOnceOneHasSucceeded) {
  Put("0", State::kWaits);
  Put("1", State::kWaits);
  Put("1", State::kWaits);
  Read(nullptr, 0);
  EXPECT_EQ(Need(), 4);
  Put("0", State::kDone);
  EXPECT_EQ(Need(), 3);
}

// A Kind is a kind of owner whose jobs have three pods here.
struct Kind {
  const char* name;
  Labels labels, annotations;  // of its pods
  Owner owner;                 // their controller
  // The object that says the size, with one pod done; null: the pods say the size.
  json object;
};

json Template() {
  const json limits = {{"limits", {{base::kSlotResource, "1"}}}};
  return {{"spec", {{"containers", {{{"name", "main"}, {"resources", limits}}}}}}};
}

Kind Kubeflow(const char* kind, const char* api_version, const char* parts, const char* role) {
  return {.name = kind,
          .labels = {{"training.kubeflow.org/job-name", "t"}, {role, "worker"}},
          .annotations = {},
          .owner = {api_version, kind, "t", "uid-of-t"},
          .object = {{"apiVersion", api_version},
                     {"kind", kind},
                     {"spec", {{parts, {{"Worker", {{"replicas", 3}, {"template", Template()}}}}}}},
                     {"status", {{"replicaStatuses", {{"Worker", {{"succeeded", 1}}}}}}}}};
}

std::vector<Kind> Kinds() {
  constexpr char kType[] = "training.kubeflow.org/replica-type";
  const json spec = {{"parallelism", 3}, {"completions", 3}, {"template", Template()}};
  const json part = {{"name", "w"}, {"template", {{"spec", spec}}}};
  std::vector<Kind> kinds = {
      Kubeflow("PyTorchJob", "kubeflow.org/v1", "pytorchReplicaSpecs", kType),
      Kubeflow("TFJob", "kubeflow.org/v1", "tfReplicaSpecs", kType),
      Kubeflow("XGBoostJob", "kubeflow.org/v1", "xgbReplicaSpecs", kType),
      Kubeflow("PaddleJob", "kubeflow.org/v1", "paddleReplicaSpecs", kType),
      Kubeflow("JAXJob", "kubeflow.org/v1", "jaxReplicaSpecs", kType),
      Kubeflow("MPIJob", "kubeflow.org/v1", "mpiReplicaSpecs", kType),
      Kubeflow("MPIJob", "kubeflow.org/v2beta1", "mpiReplicaSpecs", "training.kubeflow.org/job-role")};
  for (const char* prefix : {"batch.kubernetes.io/", ""}) {
    kinds.push_back(
        {.name = "Job",
         .labels = {{std::string(prefix) + "job-name", "t"},
                    {std::string(prefix) + "controller-uid", "uid-of-t"}},
         .annotations = {{"batch.kubernetes.io/job-completion-index", "0"}},
         .owner = {"batch/v1", "Job", "t", "uid-of-t"},
         .object = {
             {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"spec", spec}, {"status", {{"succeeded", 1}}}}});
  }
  kinds.push_back({.name = "JobSet",
                   .labels = {{"jobset.sigs.k8s.io/jobset-name", "t"},
                              {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                              {"jobset.sigs.k8s.io/job-index", "0"}},
                   .annotations = {},
                   .owner = {"batch/v1", "Job", "t-w-0", "uid-of-t-w-0"},
                   .object = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                              {"kind", "JobSet"},
                              {"spec", {{"replicatedJobs", json::array({part})}}}}});
  kinds.push_back({.name = "Kueue's pod group",
                   .labels = {{"kueue.x-k8s.io/pod-group-name", "t"}},
                   .annotations = {{"kueue.x-k8s.io/pod-group-total-count", "3"}},
                   .owner = {},
                   .object = nullptr});
  kinds.push_back({.name = "a gang by annotation",
                   .labels = {},
                   .annotations = {{"crossover.dev/gang", "t"}, {"crossover.dev/gang-size", "3"}},
                   .owner = {"ray.io/v1", "RayCluster", "t", "uid-of-t"},
                   .object = nullptr});
  return kinds;
}

Pod PodOf(const Kind& kind, const std::string& uid) {
  Pod pod;
  pod.uid = pod.name = uid;
  pod.name_space = "team";
  pod.labels = kind.labels;
  pod.annotations = kind.annotations;
  if (!kind.owner.uid.empty()) pod.owner = kind.owner;
  Container container;
  container.name = "main";
  container.slots = 1;
  pod.containers = {container};
  return pod;
}

// Returns what the gang waits for, once two pods of three wait. One pod has succeeded. `seen` says whether
// that pod is still there, and `told` whether the owner says so.
std::string WaitsFor(const Kind& kind, bool seen, bool told) {
  World world;
  Pod done = PodOf(kind, "u0");
  done.node = "n0";
  done.over = true;
  if (seen) world.Put(done);
  for (const char* uid : {"u1", "u2"}) world.Put(PodOf(kind, uid));
  Gangs gangs(world, {}, nullptr, "e");
  json object = kind.object;
  if (!told && object.is_object()) object.erase("status");
  for (double now_s = 1000; now_s < 1003; ++now_s) {
    for (const Action& action : gangs.Step(now_s)) {
      if (action.kind == Action::Kind::kReadOwner) gangs.OwnerRead(action.id, object, "", now_s);
    }
  }
  return gangs.WhyWaits("u1");
}

// A gang that is complete is told that it waits for GPUs: the cluster has none.
TEST(NeedOfEachKind, TwoPodsAreCompleteWhereOneOfThreeHasSucceeded) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    EXPECT_THAT(WaitsFor(kind, true, false), ::testing::HasSubstr("needs 2 GPUs"));
    EXPECT_THAT(WaitsFor(kind, false, false), ::testing::HasSubstr("2 of 3 pods are there"));
    const bool says_so = kind.object.is_object() && kind.object.contains("status");
    if (!says_so) continue;
    EXPECT_THAT(WaitsFor(kind, false, true), ::testing::HasSubstr("needs 2 GPUs"));
  }
}

}  // namespace
}  // namespace crossover::extender
