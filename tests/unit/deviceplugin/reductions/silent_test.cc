#include "deviceplugin/reductions/silent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using base::ShrinkLevel;
using ::testing::IsEmpty;

class SilentTest : public ::testing::Test {
 protected:
  SilentTest() {
    pod_.uid = "uid";
    pod_.annotations["crossover.dev/shrink"] = "q8";
    const auto member = arbiter::MadeMember(1, "team/a", "GPU-0");
    member->pod_uid = "uid";
    rank_.member = member;
    rank_.calls = std::make_shared<const arbiter::CallList>(1);
  }
  std::vector<SilentClient> Found() const { return SilentAmong({rank_}, {pod_}); }

  Pod pod_;
  RankView rank_;
};

TEST_F(SilentTest, CallsWithoutAWordOfReductions) {
  const auto found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].member, rank_.member);
  EXPECT_EQ(found[0].asked, ShrinkLevel::kQ8);
}

TEST_F(SilentTest, OneThatHasSaidSomethingIsNone) {
  rank_.told_of_reductions = true;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(SilentTest, OneWithoutCallsIsNone) {
  rank_.calls = std::make_shared<const arbiter::CallList>();
  EXPECT_THAT(Found(), IsEmpty());
  rank_.calls = nullptr;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(SilentTest, OneThatNoPodOfTheNodeHasIsNone) {
  pod_.uid = "another";
  EXPECT_THAT(Found(), IsEmpty());
  pod_.uid = "uid";
  pod_.over = true;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(SilentTest, OnlyWhereCallsAreToBeNarrowed) {
  const auto narrows = [this](const char* asked, const char* chosen = "") {
    pod_.annotations = {{"crossover.dev/shrink", asked}, {"crossover.dev/status-shrink", chosen}};
    return NarrowsFor(pod_);
  };
  EXPECT_EQ(narrows("bf16"), ShrinkLevel::kBf16);
  EXPECT_EQ(narrows("adaptive"), ShrinkLevel::kAdaptive);
  EXPECT_EQ(narrows("auto", "q8"), ShrinkLevel::kAuto);
  for (const char* asked : {"", "off", "advise", "other", "auto"})
    EXPECT_EQ(narrows(asked), std::nullopt) << asked;
  EXPECT_EQ(narrows("auto", "off:not_needed"), std::nullopt);
  EXPECT_EQ(narrows("off", "q8"), std::nullopt);
}

}  // namespace
}  // namespace crossover::deviceplugin
