// Defines the levels of compressed reductions: the values of the annotation crossover.dev/shrink and of the
// variable CROSSOVER_SHRINK. The webhook refuses all others, and so does the library that compresses. Pure;
// allocates nothing.
#pragma once

#include <cstdint>

#include "common/base/job_environment.h"

namespace crossover::base {

// The numbers stay as they are: libraries and daemons of different versions send them to each other.
enum class ShrinkLevel : std::uint8_t {
  kOff = 0,       // every call passes
  kAdvise = 1,    // every call passes, and is listed
  kBf16 = 2,      // calls are narrowed where all ranks of the communicator agree
  kQ8 = 3,        // the same, to 8 bits between nodes
  kAdaptive = 4,  // the same, to bits between nodes that follow the values
  kAuto = 5       // as the extender chooses for the job: kBf16, kQ8, or that calls pass (shrink_choice.h)
};

// Returns whether calls may be narrowed.
constexpr bool Narrows(ShrinkLevel level) {
  return level != ShrinkLevel::kOff && level != ShrinkLevel::kAdvise;
}

struct ShrinkLevelName {
  const char* name;
  ShrinkLevel level;
};
inline constexpr ShrinkLevelName kShrinkLevels[] = {
    {"off", ShrinkLevel::kOff}, {"advise", ShrinkLevel::kAdvise},     {"bf16", ShrinkLevel::kBf16},
    {"q8", ShrinkLevel::kQ8},   {"adaptive", ShrinkLevel::kAdaptive}, {"auto", ShrinkLevel::kAuto}};
inline constexpr char kShrinkLevelsInWords[] = "off, advise, bf16, q8, adaptive or auto";

// Returns the level of this name, or null if this version has none.
constexpr const ShrinkLevelName* ShrinkLevelOf(const char* text) {
  for (const ShrinkLevelName& row : kShrinkLevels) {
    if (Same(text, row.name)) return &row;
  }
  return nullptr;
}

// Stands for each level whose name is not known.
inline constexpr char kOtherShrinkLevel[] = "other";

// Returns the name of the level of this number, or kOtherShrinkLevel: another process sent it.
constexpr const char* NameOfShrinkLevel(std::uint32_t number) {
  for (const ShrinkLevelName& row : kShrinkLevels) {
    if (static_cast<std::uint32_t>(row.level) == number) return row.name;
  }
  return kOtherShrinkLevel;
}

inline constexpr char kShrinkVariable[] = "CROSSOVER_SHRINK";

}  // namespace crossover::base
