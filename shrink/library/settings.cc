#include "shrink/library/settings.h"

#include "common/base/shrink_choice.h"

namespace crossover::shrink::library {
namespace {

using vote::MakeReason;

bool ReadAsked(const char* text, Mode* asked, vote::Reason* reason) {
  if (*text == '\0') return true;
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(text);
  if (row != nullptr) {
    *asked = row->level;
    return true;
  }
  *reason = MakeReason("%s: expected %s, got %.40s", base::kShrinkVariable, base::kShrinkLevelsInWords, text);
  return false;
}

// Reads a whole number from 1 to `most`. A variable that is not set leaves `number` as it is.
bool ReadNumber(const char* name, const char* text, std::uint32_t most, std::uint32_t* number,
                vote::Reason* reason) {
  if (text == nullptr) return true;
  std::uint64_t value = 0;
  const char* c = text;
  for (; *c >= '0' && *c <= '9' && value <= most; ++c) value = value * 10 + static_cast<unsigned>(*c - '0');
  *number = static_cast<std::uint32_t>(value);
  if (*c == '\0' && value >= 1 && value <= most) return true;
  *reason = MakeReason("%s: expected 1 to %u, got %.40s", name, most, text);
  return false;
}

const char* ValueOf(const char* text) { return text != nullptr && *text != '\0' ? text : nullptr; }

// Does as the extender has chosen for the job.
void TakeChoice(const char* text, Settings* settings) {
  const base::ShrinkChoiceText* row = text == nullptr ? nullptr : base::ShrinkChoiceOf(text);
  if (row == nullptr) {
    settings->declines = true;
    settings->why_declines = As(base::PlainReason::kNoChoice,
                                MakeReason("%s: expected %s, got %s", base::kShrinkChoiceVariable,
                                           base::kShrinkChoicesInWords, text == nullptr ? "none" : text));
    return;
  }
  settings->mode = row->choice.level;
  settings->declines = settings->mode == Mode::kOff;
  if (settings->declines) settings->why_declines.why = row->choice.why;
}

}  // namespace

Settings ReadSettings(const Texts& texts, vote::Reason* reason) {
  Settings settings;
  const bool valid =
      texts.shrink != nullptr && ReadAsked(texts.shrink, &settings.asked, reason) &&
      ReadNumber("CROSSOVER_SHRINK_BUDGET_MIB", texts.budget, kMostBudgetMib, &settings.budget_mib, reason) &&
      ReadNumber("CROSSOVER_SHRINK_ERROR", texts.error, kMostError, &settings.error_percent, reason);
  if (!valid) return {};
  if (settings.asked == Mode::kAuto) {
    TakeChoice(ValueOf(texts.choice), &settings);
  } else {
    settings.mode = settings.asked;
  }
  settings.image = ValueOf(texts.image);
  settings.report = ValueOf(texts.report);
  return settings;
}

}  // namespace crossover::shrink::library
