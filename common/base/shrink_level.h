// Defines the levels of compressed reductions: the values of the annotation crossover.dev/shrink and of the
// variable CROSSOVER_SHRINK. The webhook refuses all others, and so does the library that compresses. Pure;
// allocates nothing.
#pragma once

#include <cstdint>

#include "common/base/job_environment.h"

namespace crossover::base {

enum class ShrinkLevel : std::uint8_t {
  kOff,     // every call passes
  kAdvise,  // every call passes, and is listed
  kBf16,    // calls are narrowed where all ranks of the communicator agree
  kQ8       // the same, to 8 bits between nodes
};

struct ShrinkLevelName {
  const char* name;
  ShrinkLevel level;
};
inline constexpr ShrinkLevelName kShrinkLevels[] = {{"off", ShrinkLevel::kOff},
                                                    {"advise", ShrinkLevel::kAdvise},
                                                    {"bf16", ShrinkLevel::kBf16},
                                                    {"q8", ShrinkLevel::kQ8}};
inline constexpr char kShrinkLevelsInWords[] = "off, advise, bf16 or q8";
inline constexpr const char* kPlannedShrinkLevels[] = {"adaptive", "auto"};

// Returns the level of this name, or null if this version has none.
constexpr const ShrinkLevelName* ShrinkLevelOf(const char* text) {
  for (const ShrinkLevelName& row : kShrinkLevels) {
    if (Same(text, row.name)) return &row;
  }
  return nullptr;
}

// Returns what a refusal of `text` says behind it: that the level is planned, or "".
constexpr const char* AboutRefusedShrinkLevel(const char* text) {
  for (const char* planned : kPlannedShrinkLevels) {
    if (Same(text, planned)) return ", which this version does not have";
  }
  return "";
}

inline constexpr char kShrinkVariable[] = "CROSSOVER_SHRINK";

}  // namespace crossover::base
