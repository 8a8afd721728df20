// Tests gangs whose owner is elastic: they begin with its minimum, and grow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "extender/gang/need.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_node.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using nlohmann::json;
using ::testing::HasSubstr;

// Has a node of two GPUs, and a PyTorchJob of three workers. The test plays the API server and the scheduler.
class ElasticTest : public ByHand {
 protected:
  ElasticTest() {
    PutNode(&cache_);
    Lead();
  }

  void Lead() {
    settings_.hold_off_s = 1;
    Begin(settings_);
  }
  void Add(const std::string& uid, const char* part = "worker") {
    Pod pod;
    pod.uid = pod.name = uid;
    pod.name_space = "team";
    pod.created_s = now_s_;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.labels = {{"training.kubeflow.org/job-name", "t"}, {"training.kubeflow.org/replica-type", part}};
    pod.owner = Owner{"kubeflow.org/v1", "PyTorchJob", "t", "t1"};
    pod.containers = {{.name = "main", .slots = 1}};
    Put(std::move(pod));
  }
  // Returns the object, with a master if `master`.
  json JobOf(int workers, const json& more, bool master = false) const {
    const json limits = {{"limits", {{base::kSlotResource, "1"}}}};
    const json pod = {{"spec", {{"containers", {{{"name", "main"}, {"resources", limits}}}}}}};
    json specs = {{"Worker", {{"replicas", workers}, {"template", pod}}}};
    if (master) specs["Master"] = {{"replicas", 1}, {"template", pod}};
    json spec = {{"pytorchReplicaSpecs", specs}};
    spec.update(more);
    return {{"apiVersion", "kubeflow.org/v1"}, {"kind", "PyTorchJob"}, {"spec", spec}};
  }
  static json AtLeast(int workers) { return {{"elasticPolicy", {{"minReplicas", workers}}}}; }

  // Carries out all that must be done, as long as there is something. Pods are bound where they are reserved.
  void Run(double seconds) {
    for (const double end_s = now_s_ + seconds; now_s_ < end_s; now_s_ += 0.5) {
      for (Action& action : gangs_->Step(now_s_)) Do(action);
    }
  }
  void Do(const Action& action) {
    if (action.kind == Kind::kReadOwner) return gangs_->OwnerRead(action.id, job_, "", now_s_);
    if (action.kind == Kind::kTell || action.kind == Kind::kAnswer) return;
    Change(action.pod.uid, [&action](Pod& pod) {
      if (action.kind == Kind::kReserve) pod.annotations[base::kReservationAnnotation] = action.text;
      if (action.kind == Kind::kSettle) pod.annotations[base::kReservationAnnotation] = action.text;
      if (action.kind == Kind::kClear) pod.annotations.erase(base::kReservationAnnotation);
      if (action.kind == Kind::kRelease) pod.gates.clear();
      if (action.kind == Kind::kBind)
        pod.node = action.node, pod.annotations[base::kAssignmentAnnotation] = action.text;
    });
    gangs_->Written(action.id,
                    {.outcome = Outcome::kDone, .version = cache_.FindPod(action.pod.uid)->version}, now_s_);
    if (action.kind == Kind::kRelease && !gangs_->SeatOf(action.pod.uid).empty()) {
      const std::string& uid = action.pod.uid;
      gangs_->Bind({.uid = uid, .name_space = "team", .name = uid}, gangs_->SeatOf(uid), next_++, now_s_);
    }
  }
  std::set<std::string> Bound() const {
    std::set<std::string> bound;
    for (const auto& [uid, pod] : cache_.pods()) {
      if (!pod.node.empty()) bound.insert(uid);
    }
    return bound;
  }
  const GangRecord& TheGang() const { return gangs_->store().gangs.begin()->second; }

  using Uids = std::set<std::string>;
  GangSettings settings_;
  json job_ = JobOf(3, AtLeast(2));
  BindHandle next_ = 1;
};

TEST_F(ElasticTest, BeginsWithItsMinimumAndGrows) {
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(10);
  EXPECT_EQ(Bound(), (Uids{"w0", "w1"}));
  EXPECT_THAT(gangs_->WhyWaits("w2"), HasSubstr("other pods of its gang run; needs 1 GPU"));
  EXPECT_EQ(TheGang().set_size(), 2) << "others may have the same two GPUs";
  PutNode(&cache_, "n1");
  gangs_->ClusterChanged();
  Run(20);
  EXPECT_EQ(Bound(), (Uids{"w0", "w1", "w2"}));
  EXPECT_EQ(TheGang().set_size(), 3);
  EXPECT_EQ(gangs_->WhyWaits("w2"), "");
}

TEST_F(ElasticTest, TheControlWaitsForAll) {
  job_ = JobOf(3, json::object());
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(60);
  EXPECT_EQ(Bound(), Uids{});
  EXPECT_THAT(gangs_->WhyWaits("w0"), HasSubstr("needs 3 GPUs"));
}

TEST_F(ElasticTest, HasAllItsPodsWhereThereIsRoom) {
  PutNode(&cache_, "n1");
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(10);
  EXPECT_EQ(Bound().size(), 3u);
  EXPECT_EQ(TheGang().set_size(), 3);
}

TEST_F(ElasticTest, WaitsAWhileForPodsThatAreStillMade) {
  for (const char* uid : {"w0", "w1"}) Add(uid);
  Run(4);
  EXPECT_EQ(Bound(), Uids{});
  EXPECT_THAT(
      gangs_->WhyWaits("w0"),
      HasSubstr(
          "2 of 3 pods exist, do not terminate and have no other scheduling gate, and it can begin with 2"));
  Run(10);
  EXPECT_EQ(Bound(), (Uids{"w0", "w1"}));
  PutNode(&cache_, "n1");
  Add("w2");
  Run(20);
  EXPECT_EQ(Bound().size(), 3u) << "a pod that comes late joins the others";
}

TEST_F(ElasticTest, DoesNotBeginWithFewerThanItsMinimum) {
  Add("w0");
  Run(60);
  EXPECT_EQ(Bound(), Uids{});
  EXPECT_THAT(gangs_->WhyWaits("w0"), HasSubstr("its gang t is not complete: 1 of 3 pods exist"));
}

TEST_F(ElasticTest, ANewLeaderKnowsHowManyRun) {
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(10);
  ASSERT_EQ(Bound().size(), 2u);
  Lead();
  Run(10);
  EXPECT_EQ(Bound().size(), 2u);
  EXPECT_EQ(TheGang().set_size(), 2);
  EXPECT_TRUE(TheGang().placed());
}

TEST_F(ElasticTest, APodThatIsLostComesAgainWhereItWas) {
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(10);
  const std::string node = cache_.FindPod("w1")->node;
  cache_.RemovePod("w1");
  gangs_->PodChanged("w1", now_s_);
  cache_.RemovePod("w2");
  gangs_->PodChanged("w2", now_s_);
  Run(5);
  Add("w1-again");
  Run(10);
  EXPECT_EQ(Bound(), (Uids{"w0", "w1-again"}));
  EXPECT_EQ(TheGang().set_size(), 2);
}

TEST_F(ElasticTest, TheMinimumCountsAllPodsOfOtherParts) {
  const auto least = [this](int workers, const json& more, bool master) {
    return ReadOwner(JobOf(workers, more, master)).least;
  };
  EXPECT_EQ(least(4, AtLeast(2), false), 2);
  EXPECT_EQ(least(4, AtLeast(2), true), 3) << "the master comes first";
  EXPECT_EQ(least(4, AtLeast(9), true), 5) << "it needs no more than there are";
  EXPECT_EQ(least(4, json::object(), true), 0) << "it names none";
  const json all = {{"runPolicy", {{"schedulingPolicy", {{"minAvailable", 3}}}}}};
  EXPECT_EQ(least(4, all, true), 3);
  EXPECT_EQ(least(1, all, true), 2);
  for (const json& wrong : {json("2"), json(-1), json(0), json(1.5), json(nullptr)})
    EXPECT_EQ(least(4, {{"elasticPolicy", {{"minReplicas", wrong}}}}, true), 0) << wrong;
}

// The storage of the API server was restored to an older state: pods have older versions than those that were
// written since.
TEST_F(ElasticTest, AnOlderStateThatWasRestoredIsBelieved) {
  for (const char* uid : {"w0", "w1", "w2"}) Add(uid);
  Run(10);
  const auto current = [this] { return ViewOf(gangs_->store(), TheGang(), "w0").current(); };
  ASSERT_TRUE(current());
  version_ = 1;
  Change("w0", [](Pod&) {});
  EXPECT_TRUE(current());
}

// Two jobs of lower priority have the GPUs. The next leader finds a claim for two of three pods, and goes on.
TEST_F(ElasticTest, ItClaimsRoomForItsMinimumAndANewLeaderKnowsTheClaim) {
  for (const char* gpu : {"GPU-a", "GPU-b"}) {
    Add(gpu);
    Change(gpu, [gpu](Pod& pod) {
      pod.labels.clear();
      pod.owner.reset();
      pod.gates.clear();
      pod.node = "n0";
      pod.annotations = {{base::kShareAnnotation, "exclusive"},
                         {base::kAssignmentAnnotation, WriteAssignment({{"main", {gpu}}})}};
    });
  }
  Run(20);
  for (const char* uid : {"w0", "w1", "w2"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.priority = 10; });
  }
  const auto plan_of = [this](const std::string& uid) {
    const auto reservation = ReservationOn(*cache_.FindPod(uid));
    return reservation && reservation->claims ? reservation->plan : "";
  };
  Run(20);
  const std::string plan = plan_of("w0");
  ASSERT_NE(plan, "") << gangs_->WhyWaits("w0");
  EXPECT_EQ(plan_of("w1"), plan);
  EXPECT_EQ(plan_of("w2"), "");
  Lead();
  Run(5);
  EXPECT_EQ(plan_of("w0"), plan);
  EXPECT_EQ(plan_of("w1"), plan);
  for (const char* gpu : {"GPU-a", "GPU-b"}) {
    cache_.RemovePod(gpu);
    gangs_->PodChanged(gpu, now_s_);
  }
  Run(20);
  EXPECT_EQ(Bound(), (Uids{"w0", "w1"}));
}

}  // namespace
}  // namespace crossover::extender
