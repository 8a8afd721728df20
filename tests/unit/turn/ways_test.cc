#include "turn/ways.h"

#include <gtest/gtest.h>

namespace crossover::turn::test {
namespace {

constexpr Rate kUnknown;

TEST(Compare, TellsTheWaysApartWhereTheDifferenceIsLargerThanItsNoise) {
  EXPECT_EQ(Compare({1.5, 0.01}, {1.4, 0.01}), Verdict::kTurns);
  EXPECT_EQ(Compare({1.4, 0.01}, {1.5, 0.01}), Verdict::kSideBySide);
}

TEST(Compare, IsOpenWhereTheDifferenceMayBeNoise) {
  EXPECT_EQ(Compare({1.5, 0.1}, {1.4, 0.1}), Verdict::kOpen);
  EXPECT_EQ(Compare({1.4, 0.1}, {1.5, 0.1}), Verdict::kOpen);
  EXPECT_EQ(Compare(kUnknown, {1.5, 0.01}), Verdict::kOpen);
  EXPECT_EQ(Compare({1.5, 0.01}, kUnknown), Verdict::kOpen);
}

TEST(Compare, EndsWhereTheWaysAreAlike) {
  EXPECT_EQ(Compare({1.500, 0.001}, {1.503, 0.001}), Verdict::kEqual);
  EXPECT_EQ(Compare({1.500, 0.020}, {1.503, 0.020}), Verdict::kOpen);
}

TEST(DifferClearly, AsksForMoreThanTwiceTheNoise) {
  EXPECT_TRUE(DifferClearly({1.5, 0.01}, {1.2, 0.01}));
  EXPECT_TRUE(DifferClearly({1.2, 0.01}, {1.5, 0.01}));
  EXPECT_FALSE(DifferClearly({1.5, 0.05}, {1.2, 0.05})) << "the difference is larger than its noise only";
  EXPECT_FALSE(DifferClearly({1.50, 0.001}, {1.45, 0.001})) << "it is small";
  EXPECT_FALSE(DifferClearly({1.5, 0.01}, kUnknown));
}

TEST(TurnsLead, AsksForOneStandardError) {
  EXPECT_TRUE(TurnsLead({1.5, 0.02}, {1.4, 0.05}));
  EXPECT_EQ(Compare({1.5, 0.02}, {1.4, 0.05}), Verdict::kOpen);
  EXPECT_FALSE(TurnsLead({1.5, 0.1}, {1.4, 0.1}));
  EXPECT_FALSE(TurnsLead({1.4, 0.02}, {1.5, 0.02})) << "side by side leads";
  EXPECT_FALSE(TurnsLead({1.500, 0.001}, {1.495, 0.001})) << "a lead of 0.3% is none";
  EXPECT_FALSE(TurnsLead({1.5, 0.02}, kUnknown));
}

TEST(Choose, StaysWhereTheOtherWayIsBetterByAHair) {
  EXPECT_EQ(Choose(Way::kTurns, {1.500, 0.001}, {1.505, 0.001}, true, false), Way::kTurns);
  EXPECT_EQ(Choose(Way::kSideBySide, {1.505, 0.001}, {1.500, 0.001}, true, false), Way::kSideBySide);
}

TEST(Choose, TakesTheWayWithTheHigherRate) {
  EXPECT_EQ(Choose(Way::kTurns, {1.3, 0.1}, {1.5, 0.1}, true, false), Way::kSideBySide)
      << "a comparison that stays open chooses what was better";
  EXPECT_EQ(Choose(Way::kSideBySide, {1.5, 0.1}, {1.3, 0.1}, true, false), Way::kTurns);
}

TEST(Choose, TakesOneAfterTheOtherOnlyWhereItIsKnownToBeBest) {
  EXPECT_EQ(Choose(Way::kTurns, {0.9, 0.01}, {0.8, 0.01}, true, true), Way::kExclusive);
  EXPECT_EQ(Choose(Way::kTurns, {0.9, 0.01}, {0.8, 0.01}, true, false), Way::kTurns);
  EXPECT_EQ(Choose(Way::kTurns, {0.9, 0.05}, {0.8, 0.05}, true, true), Way::kTurns) << "it may be noise";
  EXPECT_EQ(Choose(Way::kTurns, {0.9, 0.01}, {1.2, 0.01}, true, true), Way::kSideBySide);
  EXPECT_EQ(Choose(Way::kTurns, {0.9, 0.01}, {0.8, 0.01}, false, true), Way::kTurns) << "it cannot be had";
}

TEST(Choose, LeavesOneAfterTheOtherForAWayThatGains) {
  EXPECT_EQ(Choose(Way::kExclusive, {1.1, 0.01}, {0.8, 0.01}, true, true), Way::kTurns);
  EXPECT_EQ(Choose(Way::kExclusive, {0.8, 0.01}, {1.1, 0.01}, true, true), Way::kSideBySide);
  EXPECT_EQ(Choose(Way::kExclusive, {1.0, 0.01}, {0.8, 0.01}, true, true), Way::kExclusive);
}

TEST(Choose, LeavesTurnsThatGainNothingWhereJobsCannotRunOneAfterTheOther) {
  EXPECT_EQ(Choose(Way::kTurns, {1.000, 0.001}, {1.000, 0.001}, false, false), Way::kSideBySide);
  EXPECT_EQ(Choose(Way::kTurns, {1.030, 0.001}, {1.000, 0.001}, false, false), Way::kTurns);
  EXPECT_EQ(Choose(Way::kTurns, {0.985, 0.001}, {0.980, 0.001}, false, false), Way::kTurns)
      << "side by side is slower than one after the other";
}

}  // namespace
}  // namespace crossover::turn::test
