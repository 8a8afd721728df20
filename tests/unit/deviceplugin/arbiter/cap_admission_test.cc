#include "deviceplugin/arbiter/cap_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/clock.h"

namespace crossover::arbiter {
namespace {

using ::testing::HasSubstr;
constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kLater = 60 * base::kNsPerSecond;

class PromisesTest : public ::testing::Test {
 protected:
  std::vector<CapAdmission::Change> Judge() {
    return cap_admission_.Judge([this](turn::SlotIndex slot) -> CapAdmission::Need {
      return {demand_[slot], turns_[slot]};
    });
  }
  // Each job is on the GPU for 20 ms and away for 5 ms.
  std::array<turn::Demand, turn::kMaxSlots> demand_ = [] {
    std::array<turn::Demand, turn::kMaxSlots> all;
    all.fill({.busy = 20 * kMs, .away = 5 * kMs});
    return all;
  }();
  std::array<std::uint32_t, turn::kMaxSlots> turns_ = [] {
    std::array<std::uint32_t, turn::kMaxSlots> all;
    all.fill(1);
    return all;
  }();
  CapAdmission cap_admission_;
};

TEST_F(PromisesTest, WithoutCapsThereIsNothingToJudge) {
  cap_admission_.Join(0, "a", 0, 0);
  cap_admission_.Join(1, "b", 0, 0);
  EXPECT_FALSE(cap_admission_.any());
  EXPECT_FALSE(cap_admission_.pending());
}

TEST_F(PromisesTest, AClientThatComesLaterIsRefusedWithTheReason) {
  cap_admission_.Join(0, "z", 1.2, 0);
  cap_admission_.Join(1, "a", 1.5, kLater);
  const auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].slot, 1u);
  EXPECT_THAT(changes[0].refusal, HasSubstr("max-slowdown 1.50 refused: beside z (1.20) it would take 1."));
  EXPECT_EQ(cap_admission_.cap(0), 1.2);
  EXPECT_EQ(cap_admission_.cap(1), 0);
  EXPECT_FALSE(cap_admission_.pending());
}

// Another GPU of the same jobs may have seen them come in the opposite order.
TEST_F(PromisesTest, OfThoseWhoBeganTogetherTheNameDecides) {
  cap_admission_.Join(0, "z", 1.2, 0);
  cap_admission_.Join(1, "a", 1.5, 100 * kMs);
  ASSERT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(cap_admission_.refused(0));
  EXPECT_FALSE(cap_admission_.refused(1));
}

TEST_F(PromisesTest, ThoseThatFitAreKept) {
  cap_admission_.Join(0, "a", 3, 0);
  cap_admission_.Join(1, "b", 3, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_EQ(cap_admission_.cap(1), 3);
}

TEST_F(PromisesTest, WaitsUntilEverybodyIsKnown) {
  demand_[0] = {};
  cap_admission_.Join(0, "a", 1.2, 0);
  cap_admission_.Join(1, "b", 1.2, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_TRUE(cap_admission_.pending());
  EXPECT_EQ(cap_admission_.cap(1), 1.2) << "stands until then";
  demand_[0] = demand_[1];
  EXPECT_EQ(Judge().size(), 1u);
}

TEST_F(PromisesTest, ARefusedOneIsGrantedWhenTheOtherLeaves) {
  cap_admission_.Join(0, "a", 1.2, 0);
  cap_admission_.Join(1, "b", 1.2, kLater);
  ASSERT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(Judge().empty()) << "said once";
  cap_admission_.Leave(0);
  const auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].refusal, "");
  EXPECT_EQ(cap_admission_.cap(1), 1.2);
}

TEST_F(PromisesTest, OneWithoutACapTakesWhatIsLeft) {
  cap_admission_.Join(0, "a", 1.2, 0);
  cap_admission_.Join(1, "b", 0, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_EQ(cap_admission_.cap(0), 1.2);
}

// In time-slices each job has one turn in an iteration, of 25 ms and 50 ms.
TEST_F(PromisesTest, WhereTurnsAreWholeACapIsRefusedWhicheverCameFirst) {
  demand_[1].away = 30 * kMs;
  cap_admission_.SetTurnsLast(true);
  cap_admission_.Join(0, "a", 2.5, 0);
  cap_admission_.Join(1, "b", 2, kLater);
  auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].slot, 0u);
  EXPECT_THAT(changes[0].refusal, HasSubstr("2.50 refused: without MPS"));
  EXPECT_THAT(changes[0].refusal,
              HasSubstr("3.00 times as long as alone, where at most 2.38 can be promised"));
  EXPECT_FALSE(cap_admission_.refused(1));

  cap_admission_.Leave(1);
  changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].refusal.empty()) << "alone again";
}

TEST_F(PromisesTest, WhereTurnsAreWholeEachOfThemWaits) {
  turns_[0] = 2;
  cap_admission_.SetTurnsLast(true);
  cap_admission_.Join(0, "a", 2.5, 0);
  cap_admission_.Join(1, "b", 2.5, kLater);
  Judge();
  EXPECT_TRUE(cap_admission_.refused(0)) << "two turns of the other in each iteration: 3 times slower";
  EXPECT_FALSE(cap_admission_.refused(1)) << "half an iteration of the other: 1.5";
}

TEST_F(PromisesTest, AreJudgedAgainWhenTheRuleChanges) {
  cap_admission_.Join(0, "a", 2.5, 0);
  cap_admission_.Join(1, "b", 2, kLater);
  Judge();
  EXPECT_FALSE(cap_admission_.refused(0));
  cap_admission_.SetTurnsLast(true);
  EXPECT_TRUE(cap_admission_.pending());
  EXPECT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(cap_admission_.refused(1)) << "twice slower, and nothing to spare";
}

}  // namespace
}  // namespace crossover::arbiter
