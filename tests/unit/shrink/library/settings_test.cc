// Tests what the owner of a job may ask for, and what is refused in words.
#include "shrink/library/settings.h"

#include <gtest/gtest.h>

namespace crossover::shrink::library {
namespace {

Settings Read(const char* shrink, const char* budget = nullptr) {
  vote::Reason reason;
  const Settings settings = ReadSettings(shrink, budget, nullptr, nullptr, &reason);
  EXPECT_TRUE(reason.empty()) << reason.text;
  return settings;
}

std::string WhyRefused(const char* shrink, const char* budget = nullptr) {
  vote::Reason reason;
  EXPECT_EQ(ReadSettings(shrink, budget, "image", "report", &reason).mode, Mode::kOff);
  return reason.text;
}

TEST(SettingsTest, Modes) {
  EXPECT_EQ(Read(nullptr).mode, Mode::kOff);
  EXPECT_EQ(Read("").mode, Mode::kOff);
  EXPECT_EQ(Read("off").mode, Mode::kOff);
  EXPECT_EQ(Read("advise").mode, Mode::kAdvise);
  EXPECT_EQ(Read("bf16").mode, Mode::kBf16);
  EXPECT_EQ(Read("q8").mode, Mode::kQ8);
}

TEST(SettingsTest, WhatIsNotBuiltIsRefusedInWords) {
  for (const std::string mode : {"adaptive", "auto"}) {
    EXPECT_EQ(WhyRefused(mode.c_str()), "CROSSOVER_SHRINK: expected off, advise, bf16 or q8, got " + mode +
                                            ", which this version does not have");
  }
  EXPECT_EQ(WhyRefused("BF16"), "CROSSOVER_SHRINK: expected off, advise, bf16 or q8, got BF16");
}

TEST(SettingsTest, Budget) {
  EXPECT_EQ(Read("bf16").budget_mib, 64U);
  EXPECT_EQ(Read("bf16", "1").budget_mib, 1U);
  EXPECT_EQ(Read("bf16", "65536").budget_mib, 65'536U);
  for (const std::string budget : {"", "0", "65537", "99999999999999999999", "1.5", "-1", "64MiB"}) {
    EXPECT_EQ(WhyRefused("bf16", budget.c_str()),
              "CROSSOVER_SHRINK_BUDGET_MIB: expected 1 to 65536, got " + budget);
  }
}

TEST(SettingsTest, Paths) {
  vote::Reason reason;
  const Settings settings = ReadSettings("advise", nullptr, "image", "report", &reason);
  EXPECT_STREQ(settings.image, "image");
  EXPECT_STREQ(settings.report, "report");
  EXPECT_EQ(ReadSettings("advise", nullptr, "", "", &reason).image, nullptr);
}

}  // namespace
}  // namespace crossover::shrink::library
