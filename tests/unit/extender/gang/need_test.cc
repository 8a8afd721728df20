#include "extender/gang/need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "tests/unit/extender/gang/owner_samples.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

// Tests a JobSet of two workers Jobs. Each runs two pods at a time, and has four in all.
class NeedTest : public ::testing::Test {
 protected:
  enum class State { kWaits, kDone, kFailed };

  NeedTest() { gangs_ = std::make_unique<Gangs>(cache_, GangSettings{}, nullptr, "e"); }

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
    cache_.Put(std::move(pod));
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
    const GangRecord& gang = gangs_->store().gangs.begin()->second;
    return NeedOf(gangs_->store(), gang, CountOf(gangs_->store(), gang));
  }

  ClusterCache cache_;
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

// Returns what the gang waits for, once two pods of three wait. One pod has succeeded. `seen` says whether
// that pod is still there, and `told` whether the owner says so.
std::string WaitsFor(const OwnerSample& kind, bool seen, bool told) {
  ClusterCache cache;
  Pod done = PodOf(kind, "u0");
  done.node = "n0";
  done.over = true;
  if (seen) cache.Put(done);
  for (const char* uid : {"u1", "u2"}) cache.Put(PodOf(kind, uid));
  Gangs gangs(cache, {}, nullptr, "e");
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
  for (const OwnerSample& kind : OwnerSamples()) {
    SCOPED_TRACE(kind.name);
    EXPECT_THAT(WaitsFor(kind, true, false), ::testing::HasSubstr("needs 2 GPUs"));
    EXPECT_THAT(WaitsFor(kind, false, false), ::testing::HasSubstr("2 of 3 pods exist"));
    const bool says_so = kind.object.is_object() && kind.object.contains("status");
    if (!says_so) continue;
    EXPECT_THAT(WaitsFor(kind, false, true), ::testing::HasSubstr("needs 2 GPUs"));
  }
}

}  // namespace
}  // namespace crossover::extender
