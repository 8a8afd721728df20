#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/mps/control.h"
#include "deviceplugin/mps/farewell.h"
#include "deviceplugin/sharing/choice.h"
#include "deviceplugin/sharing/pods_under_mps.h"

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr Farewell::Time kSecond = 1'000'000'000;

TEST(ChooseSharingTest, WhatIsSaidHolds) {
  for (const Sharing wanted : {Sharing::kTimeslice, Sharing::kExclusive}) {
    for (const bool alive : {false, true}) {
      const SharingChoice choice = ChooseSharing(wanted, {.alive = alive, .needed = true});
      EXPECT_EQ(choice.sharing, wanted);
      EXPECT_EQ(choice.withheld, "");
    }
  }
  EXPECT_EQ(ChooseSharing(Sharing::kMps, {.alive = true}).withheld, "");
  EXPECT_EQ(ChooseSharing(Sharing::kMps, {}).withheld, "the control daemon of MPS does not run");
}

TEST(ChooseSharingTest, ByItselfMpsWhereItRunsElseOneSlot) {
  EXPECT_EQ(ChooseSharing(Sharing::kAuto, {.alive = true}).sharing, Sharing::kMps);
  EXPECT_EQ(ChooseSharing(Sharing::kAuto, {}).sharing, Sharing::kExclusive);
}

TEST(ChooseSharingTest, ByItselfMpsThatIsGoneIsWaitedForWhileAPodHasItOrItMayComeBack) {
  for (const MpsHistory& mps : {MpsHistory{.needed = true}, MpsHistory{.was_there = true}}) {
    const SharingChoice lost = ChooseSharing(Sharing::kAuto, mps);
    EXPECT_EQ(lost.sharing, Sharing::kMps);
    EXPECT_EQ(lost.withheld, "the control daemon of MPS does not run");
  }
  const SharingChoice again = ChooseSharing(Sharing::kAuto, {});
  EXPECT_EQ(again.withheld, "") << "nobody needs it";
  EXPECT_EQ(again.reason,
            "the control daemon of MPS does not run, and no pod needs it: sharing gains nothing without");
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

TEST(FarewellTest, ShortlyBeforeTheKillAndUntilItIsGone) {
  Farewell farewell;
  const std::vector<Pod> pods = {Leaving("a", 30), Leaving("b", 1), Pod()};
  EXPECT_THAT(UidsOf(farewell.Due(pods, 0)), ElementsAre("b"));
  EXPECT_THAT(UidsOf(farewell.Due({pods[0]}, 27 * kSecond)), IsEmpty());
  EXPECT_THAT(UidsOf(farewell.Due({pods[0]}, 28 * kSecond)), ElementsAre("a"));
  EXPECT_THAT(UidsOf(farewell.Due({pods[0]}, 29 * kSecond)), ElementsAre("a"));
}

TEST(FarewellTest, AGraceThatIsShortenedCounts) {
  Farewell farewell;
  EXPECT_THAT(farewell.Due({Leaving("a", 60)}, 0), IsEmpty());
  EXPECT_THAT(farewell.Due({Leaving("a", 5)}, kSecond), IsEmpty());
  EXPECT_THAT(UidsOf(farewell.Due({Leaving("a", 5)}, 4 * kSecond)), ElementsAre("a"));
}

TEST(FarewellTest, OneThatHasEndedNeedsNone) {
  Farewell farewell;
  std::vector<Pod> pods = {Leaving("a", 0)};
  pods[0].over = true;
  EXPECT_THAT(farewell.Due(pods, 0), IsEmpty());
}

TEST(PodsUnderMpsTest, WhoeverSharesInAnotherWayThanNewcomers) {
  std::vector<Pod> pods = {Leaving("a", 0), Leaving("b", 0)};
  pods[0].name_space = pods[1].name_space = "team";
  pods[0].name = "old";
  pods[1].name = "client";
  const std::vector<HandedOut> handed_out = {{"a", "main", {"GPU-1::0", "GPU-2::0"}, "/run/crossover"},
                                             {"b", "main", {"GPU-3::0"}, "\n/run/crossover-mps/pipe"},
                                             {"gone", "main", {"GPU-4::0"}, "\n/run/crossover-mps/pipe"}};
  EXPECT_THAT(FindOtherSharing(pods, handed_out, true),
              ElementsAre(Pair("GPU-1", "pod team/old is on it, which was started without MPS"),
                          Pair("GPU-2", testing::_)));
  EXPECT_THAT(FindOtherSharing(pods, handed_out, false),
              ElementsAre(Pair("GPU-3", "pod team/client is on it, which is a client of MPS")));
  EXPECT_TRUE(AnyUnderMps(pods, handed_out));
  pods[0].over = pods[1].over = true;
  EXPECT_THAT(FindOtherSharing(pods, handed_out, true), IsEmpty());
  EXPECT_FALSE(AnyUnderMps(pods, handed_out)) << "nobody who lives";
}

TEST(MpsControlTest, Pids) {
  EXPECT_THAT(ParsePids("12\n345\n"), ElementsAre(12, 345));
  EXPECT_THAT(ParsePids("12"), ElementsAre(12));
  EXPECT_THAT(ParsePids("Server not found\n-3\n0\n7x\n\n9\n"), ElementsAre(9));
  EXPECT_THAT(ParsePids(""), IsEmpty());
}

// Returns the entries as /proc has them: a zero byte ends each.
std::string Entries(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += entry + '\0';
  return text;
}

TEST(MpsOptionsTest, KnowsAllSpellingsOfServingAllUsers) {
  for (const char* spelling : {"-multiuser-server", "--multiuser-server", "-M", "-m", "--multiuser"}) {
    EXPECT_TRUE(ReadMpsOptions(Entries({"nvidia-cuda-mps-control", "-f", spelling}), "").multi_user)
        << spelling;
    EXPECT_TRUE(ReadMpsOptions(Entries({"nvidia-cuda-mps-control", spelling, "-d"}), "").multi_user)
        << spelling;
  }
  EXPECT_FALSE(ReadMpsOptions(Entries({"-M", "-f"}), "").multi_user) << "the name of the program";
  EXPECT_FALSE(ReadMpsOptions(Entries({"x", "-Max", "multiuser", "-f"}), "").multi_user);
  EXPECT_FALSE(ReadMpsOptions("", "").multi_user);
  EXPECT_TRUE(ReadMpsOptions(std::string("x\0-M", 4), "").multi_user) << "the last entry has no end";
}

TEST(MpsOptionsTest, KnowsTheProtocol) {
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-d"}), Entries({"PATH=/bin"})).protocol, 2);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-d", "-p", "3"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "--protocol", "3", "-d"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p3"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "--protocol=3"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x"}), Entries({"A=b", "CUDA_MPS_PROTOCOL_VERSION=3"})).protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p", "3"}), Entries({"CUDA_MPS_PROTOCOL_VERSION=2"})).protocol, 2)
      << "the variable takes precedence";
  for (const char* odd : {"-p", "-px", "--protocol=", "--protocol"})
    EXPECT_EQ(ReadMpsOptions(Entries({"x", odd}), "").protocol, 2) << odd;
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p", "3x"}), "").protocol, 2);
}

TEST(MpsControlTest, WhereThereIsNoneNothingIsAlive) {
  const MpsControl control({.pipe_directory = "/nonexistent", .program = "/nonexistent"});
  EXPECT_FALSE(control.Look().alive);
  EXPECT_FALSE(control.Servers());
  EXPECT_FALSE(control.Clients(1));
  EXPECT_FALSE(control.Terminate(1, 2));
}

}  // namespace
}  // namespace crossover::deviceplugin
