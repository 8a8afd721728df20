#include "shrink/library/settings.h"

namespace crossover::shrink::library {
namespace {

using vote::MakeReason;

bool ReadMode(const char* text, Mode* mode, vote::Reason* reason) {
  if (*text == '\0') return true;
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(text);
  if (row != nullptr) {
    *mode = row->level;
    return true;
  }
  *reason = MakeReason("%s: expected %s, got %.40s%s", base::kShrinkVariable, base::kShrinkLevelsInWords,
                       text, base::AboutRefusedShrinkLevel(text));
  return false;
}

bool ReadBudget(const char* text, std::uint32_t* mib, vote::Reason* reason) {
  std::uint64_t value = 0;
  const char* c = text;
  for (; *c >= '0' && *c <= '9' && value <= kMostBudgetMib; ++c)
    value = value * 10 + static_cast<unsigned>(*c - '0');
  *mib = static_cast<std::uint32_t>(value);
  if (*c == '\0' && value >= 1 && value <= kMostBudgetMib) return true;
  *reason = MakeReason("CROSSOVER_SHRINK_BUDGET_MIB: expected 1 to %u, got %.40s", kMostBudgetMib, text);
  return false;
}

}  // namespace

Settings ReadSettings(const char* shrink, const char* budget, const char* image, const char* report,
                      vote::Reason* reason) {
  Settings settings;
  if (shrink == nullptr || !ReadMode(shrink, &settings.mode, reason)) return {};
  if (budget != nullptr && !ReadBudget(budget, &settings.budget_mib, reason)) return {};
  settings.image = image != nullptr && *image != '\0' ? image : nullptr;
  settings.report = report != nullptr && *report != '\0' ? report : nullptr;
  return settings;
}

}  // namespace crossover::shrink::library
