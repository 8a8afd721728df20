// Tests what is handed over to libcrossover.so.
#include "shrink/library/report.h"

#include <gtest/gtest.h>

#include <vector>

namespace crossover::shrink::library {
namespace {

using base::PlainReason;
using base::ShrinkLevel;

std::vector<crossover_reductions> taken;
bool there = true;

void Take(const crossover_reductions* report) { taken.push_back(*report); }
Reporter Find() { return there ? &Take : nullptr; }

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    taken.clear();
    there = true;
  }
  Report report_{&Find};
};

TEST_F(ReportTest, HandsOverTheWholeStateAtEachChange) {
  report_.Ask(ShrinkLevel::kBf16);
  EXPECT_TRUE(taken.empty());
  report_.Narrowed(ShrinkLevel::kBf16, {4, CROSSOVER_SPAN_UNKNOWN});
  report_.Narrowed(ShrinkLevel::kBf16, {8, CROSSOVER_SPAN_SEVERAL_NODES});
  report_.Ended(ShrinkLevel::kBf16);
  report_.Plain(PlainReason::kBudget, {2, CROSSOVER_SPAN_ONE_NODE});
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken[0].header.bytes, sizeof(crossover_reductions));
  EXPECT_EQ(taken[0].asked, 2u);
  EXPECT_EQ(taken[0].narrowed[2], 1u);
  EXPECT_EQ(taken[0].ranks, 4u);
  EXPECT_EQ(taken[1].narrowed[2], 2u);
  EXPECT_EQ(taken[1].span, static_cast<std::uint32_t>(CROSSOVER_SPAN_SEVERAL_NODES));
  EXPECT_EQ(taken[2].narrowed[2], 1u);
  EXPECT_EQ(taken[3].narrowed[2], 1u);
  EXPECT_EQ(taken[3].plain[8], 1u);
  EXPECT_EQ(taken[3].reason, 8u);
  EXPECT_EQ(taken[3].ranks, 2u);
}

TEST_F(ReportTest, WithoutTheFunctionNothingHappensAndALaterOneGetsAll) {
  there = false;
  report_.Plain(PlainReason::kLostRank, {});
  EXPECT_TRUE(taken.empty());
  there = true;
  report_.Plain(PlainReason::kLostRank, {});
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].plain[static_cast<std::uint32_t>(PlainReason::kLostRank)], 2u);
}

// Rank 0 may have a newer file, which knows more reasons.
TEST_F(ReportTest, AReasonBeyondTheTableCountsAsAnother) {
  report_.Plain(PlainReason{UINT32_MAX}, {});
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].plain[0], 1u);
}

// The level of an owner whose variables are refused is not known.
TEST_F(ReportTest, ALevelThatCouldNotBeReadIsNone) {
  report_.Plain(PlainReason::kSetting, {});
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_STREQ(base::NameOfShrinkLevel(taken[0].asked), base::kOtherShrinkLevel);
}

TEST(FindReporterTest, FindsNoneInAProcessWithoutTheLibrary) { EXPECT_EQ(FindReporter(), nullptr); }

}  // namespace
}  // namespace crossover::shrink::library
