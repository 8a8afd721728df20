// Tests what becomes of a job of each kind of owner when some of its pods have succeeded, when it is
// suspended and resumed, when a pod is evicted, when a node is drained and when a node is lost. Its
// controller makes again what is gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "extender/gang/reservation.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_node.h"
#include "tests/unit/extender/gang/owner_samples.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;

constexpr int kPods = 3;
constexpr int kPatience = 120;  // seconds of the test's clock

// Has three nodes of two GPUs, and a job of three pods that runs on two of the nodes. The test is the API
// server, the scheduler and the job's controller.
class OwnerLives : public ByHand, public ::testing::WithParamInterface<OwnerSample> {
 protected:
  OwnerLives() {
    for (const char* node : {"n0", "n1", "n2"}) PutNode(&cache_, node);
    object_ = GetParam().object;
    if (object_.is_object()) object_.erase("status");
    for (int i = 0; i < kPods; ++i) Make(i);
    Begin({});
    Run();
  }

  // Makes a pod of the job, as its controller does, in the place of `number`.
  void Make(int number) {
    const std::string uid = "u" + std::to_string(made_++);
    Pod pod = PodOf(GetParam(), uid, number);
    pod.created_s = now_s_;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    Put(pod);
    if (gangs_) gangs_->PodChanged(uid, now_s_);
    pods_[number] = uid;
  }
  // Removes a pod and makes it again.
  void MakeAgain(int number) {
    Remove(pods_[number]);
    Make(number);
  }
  const Pod& At(int number) { return *cache_.FindPod(pods_[number]); }

  // Carries out what Gangs asks for until nothing waits, or for two minutes. Returns why a pod waits, or "".
  std::string Run() {
    for (int s = 0; s < kPatience; ++s) {
      now_s_ += 1;
      for (const Action& read : Do(Kind::kReadOwner)) gangs_->OwnerRead(read.id, object_, "", now_s_);
      for (const Action& evict : Do(Kind::kEvict)) evicted_.push_back(evict.pod.uid);
      for (const Kind kind : {Kind::kSettle, Kind::kClear, Kind::kReserve, Kind::kRelease}) {
        for (const Action& action : Do(kind)) CarryOut(action);
      }
      if (Waiting().empty()) break;
    }
    gangs_->Step(now_s_);
    const std::string waiting = Waiting();
    return waiting.empty() ? "" : waiting + ": " + gangs_->WhyWaits(waiting);
  }
  void CarryOut(const Action& action) {
    if (cache_.FindPod(action.pod.uid) == nullptr) {
      gangs_->Written(action.id, {.outcome = Outcome::kGone, .error = "404"}, now_s_);
      return;
    }
    Accept(action);
    if (action.kind == Kind::kRelease) BindAsReserved(action.pod.uid);
  }
  void BindAsReserved(const std::string& uid) {
    const auto reservation = ReservationOn(*cache_.FindPod(uid));
    ASSERT_TRUE(reservation.has_value()) << uid;
    Change(uid, [&](Pod& pod) {
      pod.node = reservation->seat.node;
      pod.annotations[base::kAssignmentAnnotation] = WriteAssignment(reservation->seat.containers);
    });
  }
  // Returns the UID of a pod that is not bound, or "".
  std::string Waiting() {
    for (const auto& [number, uid] : pods_) {
      if (cache_.FindPod(uid)->node.empty()) return uid;
    }
    return "";
  }
  // Lets a pod succeed. Its owner says so.
  void Succeed(int number) {
    Change(pods_[number], [](Pod& pod) { pod.over = true; });
    object_ = GetParam().object;
  }
  // Returns the node that has the most pods of the job.
  std::string Fullest() {
    std::map<std::string, int> pods;
    for (const auto& [number, uid] : pods_) ++pods[cache_.FindPod(uid)->node];
    return std::max_element(pods.begin(), pods.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
  std::vector<int> On(const std::string& node) {
    std::vector<int> numbers;
    for (const auto& [number, uid] : pods_) {
      if (cache_.FindPod(uid)->node == node) numbers.push_back(number);
    }
    return numbers;
  }
  // Asserts that all pods that have not succeeded run, each on a GPU of its own, and that Gangs took none
  // away.
  void ExpectWhole(const std::string& waits) {
    EXPECT_EQ(waits, "");
    std::set<std::string> gpus;
    std::size_t running = 0;
    for (const auto& [number, uid] : pods_) {
      if (cache_.FindPod(uid)->over) continue;
      ++running;
      const auto reservation = ReservationOn(*cache_.FindPod(uid));
      ASSERT_TRUE(reservation.has_value()) << uid;
      for (const std::string& gpu : reservation->seat.gpus()) gpus.insert(reservation->seat.node + gpu);
    }
    EXPECT_EQ(gpus.size(), running);
    EXPECT_TRUE(evicted_.empty()) << evicted_.front();
  }

  nlohmann::json object_;
  std::map<int, std::string> pods_;  // UID by the pod's number
  std::vector<std::string> evicted_;
  int made_ = 0;
};

TEST_P(OwnerLives, TheRestRunsOnWhenSomeHaveSucceeded) {
  Succeed(0);
  ExpectWhole(Run());
  MakeAgain(1);
  ExpectWhole(Run());
  now_s_ += 7200;
  ExpectWhole(Run());
}

TEST_P(OwnerLives, ItComesBackWhenItIsSuspendedAndResumed) {
  for (int i = 0; i < kPods; ++i) Remove(pods_[i]);
  now_s_ += 100;
  gangs_->Step(now_s_);
  for (int i = 0; i < kPods; ++i) Make(i);
  ExpectWhole(Run());
}

TEST_P(OwnerLives, WhatIsLeftComesBackWhenItIsSuspendedAndResumed) {
  Succeed(0);
  ExpectWhole(Run());
  for (int i = 1; i < kPods; ++i) Remove(pods_[i]);
  now_s_ += 100;
  gangs_->Step(now_s_);
  for (int i = 1; i < kPods; ++i) Make(i);
  ExpectWhole(Run());
}

TEST_P(OwnerLives, APodThatIsEvictedComesBackBesideTheOthers) {
  const std::string gone = At(1).node;
  const std::vector<std::string> stay = {pods_[0], pods_[2]};
  Change(pods_[1], [](Pod& pod) { pod.deleting = true; });
  now_s_ += 5;
  gangs_->Step(now_s_);
  MakeAgain(1);
  ExpectWhole(Run());
  EXPECT_EQ(At(1).node, gone) << "it has the place of before";
  EXPECT_EQ((std::vector<std::string>{pods_[0], pods_[2]}), stay);
}

TEST_P(OwnerLives, PodsOfANodeThatIsDrainedComeBackElsewhere) {
  const std::string drained = Fullest();
  Cordon(true, drained);
  for (const int number : On(drained)) MakeAgain(number);
  ExpectWhole(Run());
  EXPECT_TRUE(On(drained).empty());
}

TEST_P(OwnerLives, PodsOfANodeThatIsLostComeBackElsewhere) {
  const std::string lost = Fullest();
  cache_.RemoveNode(lost);
  cache_.RemoveGpuNode(lost);
  gangs_->ClusterChanged();
  now_s_ += 300;  // until its pods are taken for gone
  gangs_->Step(now_s_);
  for (const int number : On(lost)) MakeAgain(number);
  ExpectWhole(Run());
  EXPECT_TRUE(On(lost).empty());
}

// Returns the kind's name and version as the name of a test.
std::string NameOfSample(const ::testing::TestParamInfo<OwnerSample>& sample) {
  std::string name = sample.param.name + std::to_string(sample.index);
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}
INSTANTIATE_TEST_SUITE_P(EachKind, OwnerLives, ::testing::ValuesIn(OwnerSamples()), NameOfSample);

}  // namespace
}  // namespace crossover::extender
