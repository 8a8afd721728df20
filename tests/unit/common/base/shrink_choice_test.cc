#include "common/base/shrink_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crossover::base {
namespace {

TEST(ShrinkChoiceTest, EachTextHasOneChoiceAndBack) {
  std::vector<std::string> texts;
  for (const ShrinkChoiceText& row : kShrinkChoices) {
    const ShrinkChoiceText* found = ShrinkChoiceOf(row.text);
    ASSERT_NE(found, nullptr) << row.text;
    EXPECT_STREQ(TextOf(found->choice), row.text);
    texts.emplace_back(row.text);
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("bf16", "q8", "off:one_node", "off:times_unknown",
                                            "off:not_needed", "off:no_gain"));
}

TEST(ShrinkChoiceTest, OtherTextsSayNothing) {
  for (const char* text : {"", "off", "q8 ", "Q8", "adaptive", "off:", "off:one-node", "auto"})
    EXPECT_EQ(ShrinkChoiceOf(text), nullptr) << text;
}

TEST(ShrinkChoiceTest, TheReasonIsNamedAsInMetrics) {
  for (const ShrinkChoiceText& row : kShrinkChoices) {
    if (row.choice.level != ShrinkLevel::kOff) continue;
    EXPECT_EQ(row.text, std::string("off:") + TextOf(row.choice.why).name);
  }
  EXPECT_STREQ(TextOf(ShrinkChoice{.why = PlainReason::kBudget}), "");
  EXPECT_STREQ(TextOf(ShrinkChoice{.level = ShrinkLevel::kAdaptive}), "");
}

TEST(ShrinkChoiceTest, WhatTheExtenderChoosesIsAChoice) {
  std::vector<std::string> chosen;
  for (std::uint32_t reason = 0; reason < kPlainReasons; ++reason) {
    if (IsChoice(PlainReason{reason})) chosen.emplace_back(TextOf(PlainReason{reason}).name);
  }
  EXPECT_THAT(chosen, ::testing::ElementsAre("one_node", "times_unknown", "not_needed", "no_gain"));
  EXPECT_FALSE(IsChoice(PlainReason{UINT32_MAX}));
}

}  // namespace
}  // namespace crossover::base
