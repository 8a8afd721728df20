#include "deviceplugin/reductions/plain_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using base::PlainReason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Pod MadePod(const std::string& name) {
  Pod pod;
  pod.name_space = "team";
  pod.name = name;
  pod.uid = "uid-" + name;
  return pod;
}

ReductionsView ViewOf(const std::string& pod, const crossover_reductions& told) {
  const auto member = arbiter::MadeMember(1, "team/a", "GPU-0");
  member->name_space = "team";
  member->pod = pod;
  member->pod_uid = pod.empty() ? "" : "uid-" + pod;
  return {member, std::make_shared<const crossover_reductions>(told)};
}

// Returns what a process says that asks for a level and has one plain communicator of two ranks.
crossover_reductions Plain(PlainReason reason, base::ShrinkLevel asked = base::ShrinkLevel::kBf16) {
  crossover_reductions told{};
  told.asked = static_cast<std::uint32_t>(asked);
  told.reason = static_cast<std::uint32_t>(reason);
  told.ranks = 2;
  told.plain[told.reason] = 1;
  return told;
}

class PlainNoticesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Notes(const std::vector<ReductionsView>& views) {
    std::vector<std::string> notes;
    for (const kube::Event& event : notices_.Look(views, pods_)) {
      EXPECT_EQ(event.reason, "ReductionsPlain");
      EXPECT_EQ(event.regarding.kind, "Pod");
      EXPECT_EQ(event.regarding.uid, "uid-" + event.regarding.name);
      notes.push_back(event.regarding.name + ": " + event.note);
    }
    return notes;
  }

  std::vector<Pod> pods_ = {MadePod("a-0"), MadePod("a-1")};
  PlainNotices notices_;
};

TEST_F(PlainNoticesTest, SaysTheReasonInWords) {
  EXPECT_THAT(
      Notes({ViewOf("a-0", Plain(PlainReason::kOtherLevel))}),
      ElementsAre(
          "a-0: crossover.dev/shrink: expected bf16, got plain reductions of 2 ranks: another "
          "rank asks for another level, or counts another number of ranks; all pods of a job need the same "
          "crossover.dev/shrink"));
}

TEST_F(PlainNoticesTest, SaysItOnceForEachPodAndReason) {
  crossover_reductions told = Plain(PlainReason::kLostRank);
  EXPECT_THAT(Notes({ViewOf("a-0", told)}), SizeIs(1));
  EXPECT_THAT(Notes({ViewOf("a-0", told)}), IsEmpty());
  EXPECT_THAT(Notes({}), IsEmpty());
  EXPECT_THAT(Notes({ViewOf("a-0", told)}), IsEmpty()) << "its process began anew";
  EXPECT_THAT(Notes({ViewOf("a-0", told), ViewOf("a-1", told)}), ElementsAre(HasSubstr("a-1: ")));
  told.plain[static_cast<std::uint32_t>(PlainReason::kCaptured)] = 7;
  EXPECT_THAT(Notes({ViewOf("a-0", told)}), ElementsAre(HasSubstr("captured into a CUDA graph")));
}

TEST_F(PlainNoticesTest, ForgetsPodsThatAreGone) {
  const ReductionsView view = ViewOf("a-0", Plain(PlainReason::kBudget));
  EXPECT_THAT(Notes({view}), SizeIs(1));
  const std::vector<Pod> before = std::exchange(pods_, {});
  EXPECT_THAT(Notes({}), IsEmpty());
  pods_ = before;
  EXPECT_THAT(Notes({view}), SizeIs(1));
}

TEST_F(PlainNoticesTest, ARefusalThatIsRememberedIsNoNews) {
  EXPECT_THAT(Notes({ViewOf("a-0", Plain(PlainReason::kRefusedBefore))}), IsEmpty());
}

// The extender has told the owner of it. Who asks for a level by its name has not heard it.
TEST_F(PlainNoticesTest, WhatTheExtenderChoseIsNoNews) {
  for (const PlainReason chosen :
       {PlainReason::kOneNode, PlainReason::kTimesUnknown, PlainReason::kNotNeeded, PlainReason::kNoGain}) {
    EXPECT_THAT(Notes({ViewOf("a-0", Plain(chosen, base::ShrinkLevel::kAuto))}), IsEmpty());
    EXPECT_THAT(Notes({ViewOf("a-0", Plain(chosen, base::ShrinkLevel::kQ8))}), SizeIs(1));
  }
  EXPECT_THAT(Notes({ViewOf("a-0", Plain(PlainReason::kUnreadyRank, base::ShrinkLevel::kAuto))}), SizeIs(1));
}

TEST_F(PlainNoticesTest, ThatNothingWasChosenIsNews) {
  EXPECT_THAT(
      Notes({ViewOf("a-0", Plain(PlainReason::kNoChoice, base::ShrinkLevel::kAuto))}),
      ElementsAre("a-0: crossover.dev/shrink: expected auto, got plain reductions of 2 ranks: the pod "
                  "has no choice of a level that this version knows; the extender chooses one when it places "
                  "the job, and may be of another version"));
}

TEST_F(PlainNoticesTest, AClientWithoutAPodGetsNone) {
  EXPECT_THAT(Notes({ViewOf("", Plain(PlainReason::kBudget))}), IsEmpty());
}

TEST_F(PlainNoticesTest, SaysWhatElseIsKnown) {
  crossover_reductions told = Plain(PlainReason::kOneNode);
  told.span = CROSSOVER_SPAN_ONE_NODE;
  told.narrowed[3] = 2;
  EXPECT_THAT(Notes({ViewOf("a-0", told)}),
              ElementsAre(::testing::AllOf(HasSubstr(" of 2 ranks on one node: "),
                                           HasSubstr("(communicators that are compressed: 2)"))));
}

// A newer library may know reasons and levels that this daemon does not.
TEST_F(PlainNoticesTest, ReasonsThatAreNotKnownAreOne) {
  crossover_reductions told{};
  told.asked = 77;
  told.plain[0] = told.plain[31] = 1;
  EXPECT_THAT(
      Notes({ViewOf("a-0", told)}),
      ElementsAre(HasSubstr("expected another level, got plain reductions: a reason that only the log")));
}

}  // namespace
}  // namespace crossover::deviceplugin
