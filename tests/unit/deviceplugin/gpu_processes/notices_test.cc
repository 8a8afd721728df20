#include "deviceplugin/gpu_processes/notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Pod MadePod(const std::string& name_space, const std::string& name) {
  Pod pod;
  pod.uid = "uid-" + name;
  pod.name_space = name_space;
  pod.name = name;
  return pod;
}

GpuProcess Process(pid_t pid, const std::string& pod, bool has_library = false, const char* gpu = "GPU-1") {
  return {
      .gpu_uuid = gpu, .pid = pid, .program = "python", .pod_uid = "uid-" + pod, .has_library = has_library};
}

class NoticesTest : public ::testing::Test {
 protected:
  UnhookedNotices Notices(const std::vector<GpuProcess>& unhooked) {
    return NoticesOf(unhooked, pods_, holders_, [this](const Pod& pod) { return pod.name == off_; });
  }
  // Returns the events, each as "pod: reason: note".
  std::vector<std::string> Told(const std::vector<GpuProcess>& unhooked) {
    std::vector<std::string> told;
    for (const kube::Event& event : Notices(unhooked).events) {
      EXPECT_TRUE(event.warning);
      told.push_back(event.regarding.name + ": " + event.reason + ": " + event.note);
    }
    return told;
  }

  std::vector<Pod> pods_ = {MadePod("team", "silent"), MadePod("team", "mate"), MadePod("other", "far"),
                            MadePod("team", "elsewhere")};
  SlotHolders holders_ = {
      {"uid-silent", "GPU-1"}, {"uid-mate", "GPU-1"}, {"uid-far", "GPU-1"}, {"uid-elsewhere", "GPU-2"}};
  std::string off_;
};

TEST_F(NoticesTest, AllWhoShareTheGpuAreToldEachInWordsThatItMaySee) {
  EXPECT_THAT(Told({Process(5, "silent")}),
              ElementsAre("silent: TakesNoPart: no turns are taken on gpu GPU-1: pod team/silent uses the "
                          "GPU and takes no part: the library is not in it",
                          "mate: NeighbourTakesNoPart: no turns are taken on gpu GPU-1: pod team/silent uses "
                          "the GPU and takes no part",
                          "far: NeighbourTakesNoPart: no turns are taken on gpu GPU-1: another job uses the "
                          "GPU and takes no part"));
}

TEST_F(NoticesTest, TheSameFaultIsToldInTheSameWordsWhateverTheProcess) {
  EXPECT_EQ(Told({Process(5, "silent")}), Told({Process(6, "silent"), Process(7, "silent")}));
  EXPECT_NE(Told({Process(5, "silent")}), Told({Process(5, "silent", true)})) << "it has the library";
  EXPECT_THAT(Told({Process(5, "silent", true)})[0],
              testing::EndsWith("takes no part: the library is in it and is not heard of"));
}

TEST_F(NoticesTest, APodThatIsOffByItsSwitchKnowsAndItsNeighboursDoNot) {
  off_ = "silent";
  const auto notices = Notices({Process(5, "silent")});
  EXPECT_THAT(notices.held,
              ElementsAre(Pair("GPU-1", "pod team/silent uses the GPU and takes no part: its mode is off")));
  ASSERT_EQ(notices.events.size(), 2u);
  EXPECT_EQ(notices.events[0].regarding.name, "mate");
}

TEST_F(NoticesTest, AStaticProgramThatSharesWithNoneIsAsItWasToldToBe) {
  pods_[0].annotations = {{"crossover.dev/share", "exclusive"}};
  EXPECT_EQ(Notices({Process(5, "silent")}).held.size(), 1u)
      << "the control: a pod is beside it all the same";
  holders_ = {{"uid-silent", "GPU-1"}, {"uid-elsewhere", "GPU-2"}};
  EXPECT_THAT(Notices({Process(5, "silent")}).held, IsEmpty());
  EXPECT_THAT(Told({Process(5, "silent")}), IsEmpty());
  pods_[0].annotations = {{"crossover.dev/share", "true"}};
  EXPECT_THAT(Told({Process(5, "silent")}), testing::SizeIs(1)) << "a pod may come";
}

TEST_F(NoticesTest, TwoOnOneGpuAreNeighboursOfEachOtherAndOneNoticeIsEnoughForTheRest) {
  const auto told = Told({Process(5, "silent", true), Process(6, "mate", true)});
  EXPECT_EQ(
      std::count_if(told.begin(), told.end(), [](const auto& text) { return text.rfind("far", 0) == 0; }), 1);
  EXPECT_EQ(told.size(), 5u);
}

TEST_F(NoticesTest, PodsThatAreOverAreNotTold) {
  pods_[1].over = pods_[2].over = true;
  EXPECT_EQ(Told({Process(5, "silent")}).size(), 1u);
  EXPECT_THAT(Notices({}).held, IsEmpty());
  pods_.erase(pods_.begin());
  EXPECT_THAT(Notices({Process(5, "silent")}).held,
              ElementsAre(Pair("GPU-1", testing::HasSubstr("uid-silent"))));
}

}  // namespace
}  // namespace crossover::deviceplugin
