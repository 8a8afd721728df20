#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/mps/client_drain.h"
#include "deviceplugin/sharing/pods_under_mps.h"
#include "deviceplugin/sharing/strategy.h"

namespace crossover::deviceplugin {
namespace {

using base::Withheld;
using base::WithheldReason;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr ClientDrain::Time kSecond = 1'000'000'000;

TEST(ChooseSharingTest, WhatIsSaidHolds) {
  for (const Sharing wanted : {Sharing::kTimeslice, Sharing::kExclusive}) {
    for (const bool alive : {false, true}) {
      const SharingStrategy strategy = ChooseSharing(wanted, {.alive = alive, .needed = true});
      EXPECT_EQ(strategy.sharing, wanted);
      EXPECT_EQ(base::TextOf(strategy.withheld), "");
    }
  }
  EXPECT_EQ(base::TextOf(ChooseSharing(Sharing::kMps, {.alive = true}).withheld), "");
  EXPECT_EQ(base::TextOf(ChooseSharing(Sharing::kMps, {}).withheld),
            "the control daemon of MPS does not run");
}

TEST(ChooseSharingTest, ByItselfMpsWhereItRunsElseOneSlot) {
  EXPECT_EQ(ChooseSharing(Sharing::kAuto, {.alive = true}).sharing, Sharing::kMps);
  EXPECT_EQ(ChooseSharing(Sharing::kAuto, {}).sharing, Sharing::kExclusive);
}

TEST(ChooseSharingTest, WhileMpsTakesNoClientsNothingIsGivenOut) {
  for (const Sharing wanted : {Sharing::kAuto, Sharing::kMps}) {
    const SharingStrategy strategy = ChooseSharing(wanted, {.alive = true, .fault = "it is in FAULT"});
    EXPECT_EQ(strategy.sharing, Sharing::kMps);
    EXPECT_EQ(base::TextOf(strategy.withheld), "it is in FAULT");
    EXPECT_EQ(strategy.withheld->reason, base::Withheld::kMpsTakesNone);
    EXPECT_EQ(base::TextOf(ChooseSharing(wanted, {.alive = true}).withheld), "") << "it is well again";
  }
  for (const Sharing wanted : {Sharing::kTimeslice, Sharing::kExclusive})
    EXPECT_EQ(base::TextOf(ChooseSharing(wanted, {.alive = true, .fault = "it is in FAULT"}).withheld), "");
}

TEST(ChooseSharingTest, WhileItIsNotKnownNothingIsGivenOutEither) {
  for (const Sharing wanted : {Sharing::kAuto, Sharing::kMps}) {
    const SharingStrategy strategy = ChooseSharing(wanted, {.alive = true, .known = false});
    EXPECT_EQ(base::TextOf(strategy.withheld), "it is not known yet whether MPS takes new clients");
    EXPECT_EQ(strategy.withheld->reason, base::Withheld::kMpsNotKnownYet);
    EXPECT_NE(ChooseSharing(wanted, {.known = false}).withheld, strategy.withheld) << "it does not run";
  }
  for (const Sharing wanted : {Sharing::kTimeslice, Sharing::kExclusive})
    EXPECT_EQ(base::TextOf(ChooseSharing(wanted, {.alive = true, .known = false}).withheld), "");
  EXPECT_EQ(base::TextOf(ChooseSharing(Sharing::kAuto, {.known = false}).withheld), "")
      << "no node waits without MPS";
}

TEST(ChooseSharingTest, ByItselfMpsThatIsGoneIsWaitedForWhileAPodHasItOrItMayComeBack) {
  for (const MpsHistory& mps : {MpsHistory{.needed = true}, MpsHistory{.was_there = true}}) {
    const SharingStrategy lost = ChooseSharing(Sharing::kAuto, mps);
    EXPECT_EQ(lost.sharing, Sharing::kMps);
    EXPECT_EQ(base::TextOf(lost.withheld), "the control daemon of MPS does not run");
    EXPECT_EQ(lost.withheld->reason, base::Withheld::kMpsGone);
  }
  const SharingStrategy again = ChooseSharing(Sharing::kAuto, {});
  EXPECT_EQ(base::TextOf(again.withheld), "") << "no pod needs MPS";
  EXPECT_EQ(again.reason,
            "the control daemon of MPS does not run, and no pod is known to need MPS: without MPS sharing "
            "gains nothing");
}

Pod Leaving(const std::string& uid, std::int64_t grace_s) {
  Pod pod;
  pod.uid = uid;
  pod.grace_s = grace_s;
  return pod;
}

std::vector<std::string> UidsOf(const std::vector<Pod>& pods) {
  std::vector<std::string> uids;
  for (const Pod& pod : pods) uids.push_back(pod.uid);
  return uids;
}

TEST(ClientDrainTest, ShortlyBeforeTheKillAndUntilItIsGone) {
  ClientDrain drain;
  const std::vector<Pod> pods = {Leaving("a", 30), Leaving("b", 1), Pod()};
  EXPECT_THAT(UidsOf(drain.Due(pods, 0)), ElementsAre("b"));
  EXPECT_THAT(UidsOf(drain.Due({pods[0]}, 27 * kSecond)), IsEmpty());
  EXPECT_THAT(UidsOf(drain.Due({pods[0]}, 28 * kSecond)), ElementsAre("a"));
  EXPECT_THAT(UidsOf(drain.Due({pods[0]}, 29 * kSecond)), ElementsAre("a"));
}

TEST(ClientDrainTest, AGraceThatIsShortenedCounts) {
  ClientDrain drain;
  EXPECT_THAT(drain.Due({Leaving("a", 60)}, 0), IsEmpty());
  EXPECT_THAT(drain.Due({Leaving("a", 5)}, kSecond), IsEmpty());
  EXPECT_THAT(UidsOf(drain.Due({Leaving("a", 5)}, 4 * kSecond)), ElementsAre("a"));
}

TEST(ClientDrainTest, OneThatHasEndedNeedsNone) {
  ClientDrain drain;
  std::vector<Pod> pods = {Leaving("a", 0)};
  pods[0].over = true;
  EXPECT_THAT(drain.Due(pods, 0), IsEmpty());
}

TEST(PodsUnderMpsTest, PodsThatShareInAnotherWayThanNewcomers) {
  std::vector<Pod> pods = {Leaving("a", 0), Leaving("b", 0)};
  pods[0].name_space = pods[1].name_space = "team";
  pods[0].name = "old";
  pods[1].name = "client";
  const std::vector<DeviceAllocation> handed_out = {
      {"a", "main", {"GPU-1::0", "GPU-2::0"}, "/run/crossover"},
      {"b", "main", {"GPU-3::0"}, "\n/run/crossover-mps/pipe"},
      {"gone", "main", {"GPU-4::0"}, "\n/run/crossover-mps/pipe"}};
  EXPECT_THAT(
      FindOtherSharing(pods, handed_out, true),
      ElementsAre(Pair("GPU-1", WithheldReason{Withheld::kStartedWithoutMps,
                                               "pod team/old is on it, which was started without MPS"}),
                  Pair("GPU-2", testing::_)));
  EXPECT_THAT(
      FindOtherSharing(pods, handed_out, false),
      ElementsAre(Pair("GPU-3", WithheldReason{Withheld::kStartedUnderMps,
                                               "pod team/client is on it, which is a client of MPS"})));
  EXPECT_TRUE(AnyUnderMps(pods, handed_out));
  const auto notices = [&](const MpsHistory& mps) {
    return MpsNotices(pods, handed_out, ChooseSharing(Sharing::kMps, mps));
  };
  EXPECT_THAT(notices({.alive = true}), IsEmpty());
  EXPECT_THAT(notices({.alive = true, .known = false}), IsEmpty());
  const auto of_gone = notices({});
  ASSERT_EQ(of_gone.size(), 1u);
  EXPECT_EQ(of_gone.begin()->regarding.name, "client");
  EXPECT_EQ(of_gone.begin()->reason, "MpsGone");
  EXPECT_THAT(
      of_gone.begin()->note,
      testing::StartsWith("the control daemon of MPS does not run. The clients of MPS in this pod end"));
  const auto told = notices({.alive = true, .fault = "its server is in FAULT"});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.begin()->regarding.name, "client");
  EXPECT_EQ(told.begin()->reason, "MpsTakesNoClients");
  EXPECT_THAT(told.begin()->note, testing::StartsWith("its server is in FAULT. A CUDA program"));
  EXPECT_THAT(ShmNotices(pods, handed_out), IsEmpty());
  for (Pod& pod : pods) pod.containers = {{.name = "side", .slots = 0}, {"main", 1, true}};
  const auto hidden = ShmNotices(pods, handed_out);
  ASSERT_EQ(hidden.size(), 1u) << "the other one is no client of MPS";
  EXPECT_EQ(hidden.begin()->regarding.name, "client");
  EXPECT_EQ(hidden.begin()->reason, "ShmHidden");
  EXPECT_THAT(
      hidden.begin()->note,
      testing::StartsWith("container main: its volume at /dev/shm hides the files of MPS's clients there"));
  pods[0].over = pods[1].over = true;
  EXPECT_THAT(ShmNotices(pods, handed_out), IsEmpty());
  EXPECT_THAT(FindOtherSharing(pods, handed_out, true), IsEmpty());
  EXPECT_FALSE(AnyUnderMps(pods, handed_out)) << "no pod that lives";
}

TEST(RecentMpsPodsTest, APodThatEndedWithTheServerIsToldToo) {
  std::vector<Pod> pods = {Leaving("a", 0), Leaving("b", 0)};
  pods[0].name = "beside";
  pods[1].name = "client";
  const std::vector<DeviceAllocation> handed_out = {{"a", "main", {"GPU-1::0"}, "/run/crossover"},
                                                    {"b", "main", {"GPU-2::0"}, "\n/run/crossover-mps/pipe"}};
  RecentMpsPods recent;
  EXPECT_THAT(recent.LossNotices(77), IsEmpty());
  recent.OnLook(pods, handed_out, 0);
  pods[1].over = true;
  recent.OnLook(pods, handed_out, RecentMpsPods::kKept);
  const auto told = recent.LossNotices(77);
  ASSERT_EQ(told.size(), 1u) << "the other one is no client of MPS";
  EXPECT_EQ(told.begin()->regarding.name, "client");
  EXPECT_EQ(told.begin()->reason, "MpsServerEnded");
  EXPECT_THAT(told.begin()->note,
              testing::StartsWith("MPS's server, process 77 of the node, has ended. CUDA"));
  recent.OnLook(pods, handed_out, RecentMpsPods::kKept + 1);
  EXPECT_THAT(recent.LossNotices(78), IsEmpty()) << "it ended for a reason of its own";
}

}  // namespace
}  // namespace crossover::deviceplugin
