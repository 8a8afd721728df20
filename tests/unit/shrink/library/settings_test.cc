// Tests what the owner of a job may ask for, and what is refused in words.
#include "shrink/library/settings.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/shrink_choice.h"

namespace crossover::shrink::library {
namespace {

Settings Read(const char* shrink, const char* budget = nullptr, const char* error = nullptr) {
  vote::Reason reason;
  const Settings settings = ReadSettings({.shrink = shrink, .budget = budget, .error = error}, &reason);
  EXPECT_TRUE(reason.empty()) << reason.text;
  return settings;
}

std::string WhyRefused(const char* shrink, const char* budget = nullptr, const char* error = nullptr) {
  vote::Reason reason;
  const Settings settings =
      ReadSettings({.shrink = shrink, .choice = "bf16", .budget = budget, .error = error}, &reason);
  EXPECT_EQ(settings.asked, Mode::kOff);
  EXPECT_EQ(settings.mode, Mode::kOff);
  EXPECT_FALSE(Votes(settings));
  return reason.text;
}

// Returns the settings of an owner who asks for auto.
Settings ReadAuto(const char* choice) {
  vote::Reason reason;
  const Settings settings = ReadSettings({.shrink = "auto", .choice = choice}, &reason);
  EXPECT_TRUE(reason.empty()) << reason.text;
  EXPECT_EQ(settings.asked, Mode::kAuto);
  EXPECT_TRUE(Votes(settings));
  return settings;
}

TEST(SettingsTest, Modes) {
  EXPECT_EQ(Read(nullptr).mode, Mode::kOff);
  EXPECT_EQ(Read("").mode, Mode::kOff);
  EXPECT_EQ(Read("off").mode, Mode::kOff);
  EXPECT_EQ(Read("advise").mode, Mode::kAdvise);
  EXPECT_EQ(Read("bf16").mode, Mode::kBf16);
  EXPECT_EQ(Read("q8").mode, Mode::kQ8);
  EXPECT_EQ(Read("adaptive").mode, Mode::kAdaptive);
}

TEST(SettingsTest, WhatIsAskedIsWhatIsDone) {
  for (const base::ShrinkLevelName& row : base::kShrinkLevels) {
    if (row.level == Mode::kAuto) continue;
    vote::Reason reason;
    for (const char* choice : {"q8", "off:no_gain", "fp8"}) {  // they have no effect without auto
      const Settings settings = ReadSettings({.shrink = row.name, .choice = choice}, &reason);
      EXPECT_EQ(settings.asked, row.level);
      EXPECT_EQ(settings.mode, row.level);
      EXPECT_FALSE(settings.declines);
      EXPECT_EQ(Votes(settings), Narrows(row.level));
    }
    EXPECT_TRUE(reason.empty()) << reason.text;
  }
}

TEST(SettingsTest, AutoDoesAsIsChosen) {
  for (const base::ShrinkChoiceText& row : base::kShrinkChoices) {
    SCOPED_TRACE(row.text);
    const Settings settings = ReadAuto(row.text);
    EXPECT_EQ(settings.mode, row.choice.level);
    EXPECT_EQ(settings.declines, row.choice.level == Mode::kOff);
    if (settings.declines) {
      EXPECT_EQ(settings.why_declines.why, row.choice.why);
    }
    EXPECT_TRUE(settings.why_declines.empty()) << "a choice is nothing to warn of";
  }
}

TEST(SettingsTest, WithoutAChoiceThatIsKnownAutoDeclinesInWords) {
  const std::string expected =
      std::string("CROSSOVER_SHRINK_CHOICE: expected ") + base::kShrinkChoicesInWords;
  for (const char* choice :
       {static_cast<const char*>(nullptr), "", "adaptive", "off", "off:budget", "auto"}) {
    const Settings settings = ReadAuto(choice);
    const bool none = choice == nullptr || *choice == '\0';
    EXPECT_EQ(settings.mode, Mode::kOff);
    EXPECT_TRUE(settings.declines);
    EXPECT_EQ(settings.why_declines.why, base::PlainReason::kNoChoice);
    EXPECT_EQ(settings.why_declines.text, expected + ", got " + (none ? "none" : choice));
  }
}

TEST(SettingsTest, ALongChoiceIsCut) {
  const Settings settings = ReadAuto(std::string(200, 'x').c_str());
  EXPECT_TRUE(settings.why_declines.view().ends_with("or off:no_gain, got xxxxxxxxxxxxxxx"))
      << settings.why_declines.text;
}

TEST(SettingsTest, AutoWithAVariableThatIsRefusedIsOff) {
  EXPECT_EQ(WhyRefused("auto", "0"), "CROSSOVER_SHRINK_BUDGET_MIB: expected 1 to 65536, got 0");
}

TEST(SettingsTest, UnknownModesAreRefusedInWords) {
  EXPECT_EQ(WhyRefused("BF16"),
            "CROSSOVER_SHRINK: expected off, advise, bf16, q8, adaptive or auto, got BF16");
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

TEST(SettingsTest, Error) {
  EXPECT_EQ(Read("adaptive").error_percent, 100U);
  EXPECT_EQ(Read("adaptive", nullptr, "1").error_percent, 1U);
  EXPECT_EQ(Read("adaptive", nullptr, "2500").error_percent, 2'500U);
  for (const std::string error : {"", "0", "2501", "1%", "0.5"}) {
    EXPECT_EQ(WhyRefused("adaptive", nullptr, error.c_str()),
              "CROSSOVER_SHRINK_ERROR: expected 1 to 2500, got " + error);
  }
}

TEST(SettingsTest, Paths) {
  vote::Reason reason;
  const Settings settings = ReadSettings({.shrink = "advise", .image = "image", .report = "report"}, &reason);
  EXPECT_STREQ(settings.image, "image");
  EXPECT_STREQ(settings.report, "report");
  EXPECT_EQ(ReadSettings({.shrink = "advise", .image = "", .report = ""}, &reason).image, nullptr);
}

}  // namespace
}  // namespace crossover::shrink::library
