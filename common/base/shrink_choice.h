// Defines what the extender chooses for a job whose level is auto: the value of the annotation
// kShrinkChoiceAnnotation and of the variable CROSSOVER_SHRINK_CHOICE. It is "bf16", "q8", or "off:REASON"
// with the name of a PlainReason. Pure; allocates nothing.
#pragma once

#include <cstddef>
#include <iterator>

#include "common/base/job_environment.h"
#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"

namespace crossover::base {

inline constexpr char kShrinkChoiceVariable[] = "CROSSOVER_SHRINK_CHOICE";

struct ShrinkChoice {
  ShrinkLevel level = ShrinkLevel::kOff;     // kOff, kBf16 or kQ8
  PlainReason why = PlainReason::kNoChoice;  // of kOff: why calls pass
};

struct ShrinkChoiceText {
  const char* text;
  ShrinkChoice choice;
};
inline constexpr ShrinkChoiceText kShrinkChoices[] = {
    {"bf16", {.level = ShrinkLevel::kBf16}},
    {"q8", {.level = ShrinkLevel::kQ8}},
    {"off:one_node", {.why = PlainReason::kOneNode}},
    {"off:times_unknown", {.why = PlainReason::kTimesUnknown}},
    {"off:not_needed", {.why = PlainReason::kNotNeeded}},
    {"off:no_gain", {.why = PlainReason::kNoGain}},
};
inline constexpr std::size_t kShrinkChoiceCount = std::size(kShrinkChoices);
inline constexpr char kShrinkChoicesInWords[] =
    "bf16, q8, off:one_node, off:times_unknown, off:not_needed or off:no_gain";

// Returns what the text says, or null: no version known here writes it.
constexpr const ShrinkChoiceText* ShrinkChoiceOf(const char* text) {
  for (const ShrinkChoiceText& row : kShrinkChoices) {
    if (Same(text, row.text)) return &row;
  }
  return nullptr;
}

// Returns the text of a choice. Of kOff it is the one of its reason, or "" if no choice has that reason.
constexpr const char* TextOf(const ShrinkChoice& choice) {
  for (const ShrinkChoiceText& row : kShrinkChoices) {
    const bool same = row.choice.level == choice.level;
    if (same && (choice.level != ShrinkLevel::kOff || row.choice.why == choice.why)) return row.text;
  }
  return "";
}

// Returns whether calls pass for this reason by choice: the extender chooses so, and tells the owner of it.
constexpr bool IsChoice(PlainReason why) { return *TextOf(ShrinkChoice{.why = why}) != '\0'; }

}  // namespace crossover::base
