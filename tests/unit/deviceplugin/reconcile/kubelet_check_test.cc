#include "deviceplugin/reconcile/kubelet_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr KubeletCheck::Time kSecond = 1'000'000'000;

Pod MadePod(const std::string& name, const std::string& owner, std::uint64_t arrival) {
  Pod pod;
  pod.uid = "uid-" + name;
  pod.name_space = "team";
  pod.name = name;
  pod.owner = owner;
  pod.arrival = arrival;
  pod.controlled = true;
  return pod;
}

class KubeletCheckTest : public ::testing::Test {
 protected:
  std::vector<std::string> Look(int second) {
    std::vector<std::string> names;
    for (const Pod& pod : check_.Look(pods_, handed_out_, second * kSecond)) {
      names.push_back(pod.name);
      if (accepted_) check_.NoteMadeAnew(pod);
    }
    return names;
  }

  // The pods are two ranks of one gang on one GPU. The first came last, and was assigned another GPU.
  KubeletCheckTest() {
    pods_[0].annotations["crossover.dev/assignment"] = R"({"containers": {"main": ["GPU-9"]}})";
  }
  // Returns the events that are not about drift.
  std::vector<kube::Event> Told() const {
    std::vector<kube::Event> told;
    for (const kube::Event& event : told_) {
      if (event.reason != "OtherGpus") told.push_back(event);
    }
    return told;
  }

  std::vector<Pod> pods_ = {MadePod("a-0", "a", 2), MadePod("a-1", "a", 1)};
  std::vector<DeviceAllocation> handed_out_ = {{"uid-a-0", "main", {"GPU-1::0"}, ""},
                                               {"uid-a-1", "main", {"GPU-1::1"}, ""}};
  bool accepted_ = true;  // an attempt to make a pod anew is accepted
  std::vector<kube::Event> told_;
  KubeletCheck check_{[this](kube::Event event) { told_.push_back(std::move(event)); }};
};

TEST_F(KubeletCheckTest, TwoRanksOnOneGpuAreToldOnceAndTheLaterIsMadeAnew) {
  EXPECT_THAT(Look(0), ElementsAre("a-0"));
  EXPECT_THAT(Look(1), IsEmpty()) << "it is on its way";
  const auto told = Told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason, "TwoRanksOnOneGpu");
  EXPECT_EQ(told[0].regarding.name, "a-0");
  EXPECT_THAT(told[0].note, HasSubstr("team/a-0, team/a-1"));
  EXPECT_THAT(check_.held(), ElementsAre(testing::Pair("GPU-1", HasSubstr("two ranks of gang team/a"))));
}

TEST_F(KubeletCheckTest, AKubeletThatDoesTheSameAgainIsNotFoughtForEver) {
  EXPECT_EQ(Look(0).size() + Look(29).size(), 1u);
  EXPECT_EQ(Look(30).size(), 1u);
  EXPECT_EQ(Look(60).size(), 1u);
  EXPECT_EQ(Look(90).size() + Look(3600).size() + Look(7000).size(), 0u) << "it goes on";
  EXPECT_EQ(Look(7000 + 3601).size(), 1u) << "it had been well for long";
}

TEST_F(KubeletCheckTest, WhatIsRefusedIsTriedAgainAndAgain) {
  accepted_ = false;
  EXPECT_EQ(Look(0).size(), 1u);
  EXPECT_THAT(Look(29), IsEmpty()) << "not each time";
  EXPECT_EQ(Look(30).size() + Look(60).size(), 2u);
  accepted_ = true;
  EXPECT_EQ(Look(90).size(), 1u) << "three refusals are no restarts";
  EXPECT_EQ(Look(120).size() + Look(150).size(), 2u);
  EXPECT_THAT(Look(180), IsEmpty()) << "three restarts are";
}

TEST_F(KubeletCheckTest, APodThatNoControllerWouldMakeAnewStays) {
  pods_[0].controlled = false;
  EXPECT_THAT(Look(0), IsEmpty());
  EXPECT_EQ(Told().size(), 1u);
}

TEST_F(KubeletCheckTest, RanksThatWereNotPlacedOtherwiseWouldComeToTheSameGpuAgain) {
  pods_[0].annotations.clear();
  EXPECT_THAT(Look(0), IsEmpty());
  EXPECT_EQ(Told().size(), 1u);
  EXPECT_TRUE(check_.held().contains("GPU-1"));
}

TEST_F(KubeletCheckTest, WhereOneIsLeavingNoPodIsMadeAnew) {
  pods_[1].grace_s = 30;
  EXPECT_THAT(Look(0), IsEmpty()) << "the other has come in its place";
  EXPECT_TRUE(check_.held().contains("GPU-1")) << "as long as both are there";
  pods_[1].grace_s.reset();
  pods_[0].grace_s = 30;
  EXPECT_THAT(Look(31), IsEmpty()) << "it is being deleted";
}

TEST_F(KubeletCheckTest, ASlotOfTwoPods) {
  pods_[0].annotations.clear();
  pods_[1].owner = "b";
  handed_out_[1].ids = handed_out_[0].ids;
  EXPECT_THAT(Look(0), ElementsAre("a-0"));
  EXPECT_EQ(told_[0].reason, "SlotHandedOutTwice");
  EXPECT_EQ(check_.found().doubles.size(), 1u);
  EXPECT_TRUE(check_.held().contains("GPU-1"));
  handed_out_.pop_back();
  EXPECT_THAT(Look(1), IsEmpty());
  EXPECT_THAT(check_.held(), IsEmpty());
}

TEST_F(KubeletCheckTest, OtherGpusThanWereAssignedAreNoReasonToRestart) {
  pods_[0].owner = "b";
  pods_[0].annotations["crossover.dev/assignment"] = R"({"containers": {"main": ["GPU-9"]}})";
  EXPECT_THAT(Look(0), IsEmpty());
  EXPECT_THAT(Look(1), IsEmpty());
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(
      told_[0].note,
      "container main has GPU-1 and was assigned GPU-9: the kubelet chose other GPUs than the scheduler");
  EXPECT_THAT(check_.held(), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
