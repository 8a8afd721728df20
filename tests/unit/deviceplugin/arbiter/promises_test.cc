#include "deviceplugin/arbiter/promises.h"

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
  std::vector<Promises::Change> Judge() {
    return promises_.Judge([this](turn::SlotIndex slot) -> Promises::Need {
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
  Promises promises_;
};

TEST_F(PromisesTest, WithoutCapsThereIsNothingToJudge) {
  promises_.Join(0, "a", 0, 0);
  promises_.Join(1, "b", 0, 0);
  EXPECT_FALSE(promises_.any());
  EXPECT_FALSE(promises_.pending());
}

TEST_F(PromisesTest, AClientThatComesLaterIsRefusedWithTheReason) {
  promises_.Join(0, "z", 1.2, 0);
  promises_.Join(1, "a", 1.5, kLater);
  const auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].slot, 1u);
  EXPECT_THAT(changes[0].refusal, HasSubstr("max-slowdown 1.50 refused: beside z (1.20) it would take 1."));
  EXPECT_EQ(promises_.cap(0), 1.2);
  EXPECT_EQ(promises_.cap(1), 0);
  EXPECT_FALSE(promises_.pending());
}

// Another GPU of the same jobs may have seen them come in the opposite order.
TEST_F(PromisesTest, OfThoseWhoBeganTogetherTheNameDecides) {
  promises_.Join(0, "z", 1.2, 0);
  promises_.Join(1, "a", 1.5, 100 * kMs);
  ASSERT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(promises_.refused(0));
  EXPECT_FALSE(promises_.refused(1));
}

TEST_F(PromisesTest, ThoseThatFitAreKept) {
  promises_.Join(0, "a", 3, 0);
  promises_.Join(1, "b", 3, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_EQ(promises_.cap(1), 3);
}

TEST_F(PromisesTest, WaitsUntilEverybodyIsKnown) {
  demand_[0] = {};
  promises_.Join(0, "a", 1.2, 0);
  promises_.Join(1, "b", 1.2, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_TRUE(promises_.pending());
  EXPECT_EQ(promises_.cap(1), 1.2) << "stands until then";
  demand_[0] = demand_[1];
  EXPECT_EQ(Judge().size(), 1u);
}

TEST_F(PromisesTest, ARefusedOneIsGrantedWhenTheOtherLeaves) {
  promises_.Join(0, "a", 1.2, 0);
  promises_.Join(1, "b", 1.2, kLater);
  ASSERT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(Judge().empty()) << "said once";
  promises_.Leave(0);
  const auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].refusal, "");
  EXPECT_EQ(promises_.cap(1), 1.2);
}

TEST_F(PromisesTest, OneWithoutACapTakesWhatIsLeft) {
  promises_.Join(0, "a", 1.2, 0);
  promises_.Join(1, "b", 0, kLater);
  EXPECT_TRUE(Judge().empty());
  EXPECT_EQ(promises_.cap(0), 1.2);
}

// In time-slices each job has one turn in an iteration, of 25 ms and 50 ms.
TEST_F(PromisesTest, WhereTurnsAreWholeACapIsRefusedWhicheverCameFirst) {
  demand_[1].away = 30 * kMs;
  promises_.SetTurnsLast(true);
  promises_.Join(0, "a", 2.5, 0);
  promises_.Join(1, "b", 2, kLater);
  auto changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].slot, 0u);
  EXPECT_THAT(changes[0].refusal, HasSubstr("2.50 refused: without MPS"));
  EXPECT_THAT(changes[0].refusal, HasSubstr("3.00 times slower"));
  EXPECT_FALSE(promises_.refused(1));

  promises_.Leave(1);
  changes = Judge();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].refusal.empty()) << "alone again";
}

TEST_F(PromisesTest, WhereTurnsAreWholeEachOfThemWaits) {
  turns_[0] = 2;
  promises_.SetTurnsLast(true);
  promises_.Join(0, "a", 2.5, 0);
  promises_.Join(1, "b", 2.5, kLater);
  Judge();
  EXPECT_TRUE(promises_.refused(0)) << "two turns of the other in each iteration: 3 times slower";
  EXPECT_FALSE(promises_.refused(1)) << "half an iteration of the other: 1.5";
}

TEST_F(PromisesTest, AreJudgedAgainWhenTheRuleChanges) {
  promises_.Join(0, "a", 2.5, 0);
  promises_.Join(1, "b", 2, kLater);
  Judge();
  EXPECT_FALSE(promises_.refused(0));
  promises_.SetTurnsLast(true);
  EXPECT_TRUE(promises_.pending());
  EXPECT_EQ(Judge().size(), 1u);
  EXPECT_TRUE(promises_.refused(1)) << "twice slower, and nothing to spare";
}

}  // namespace
}  // namespace crossover::arbiter
