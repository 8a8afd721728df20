// Reads what the owner of the job asks for. Pure values.
#pragma once

#include <cstdint>

#include "common/base/shrink_level.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

using Mode = base::ShrinkLevel;

// Returns whether calls may be narrowed.
constexpr bool Narrows(Mode mode) { return mode == Mode::kBf16 || mode == Mode::kQ8; }

// The texts are those of the environment; null: not set.
struct Settings {
  Mode mode = Mode::kOff;
  std::uint32_t budget_mib = 64;  // memory of each communicator on its GPU
  const char* image = nullptr;    // path of the kernels, in place of those within the library
  const char* report =
      nullptr;  // path of the file that the dry run writes, before the process ID and ".json"
};

inline constexpr std::uint32_t kMostBudgetMib = 65'536;

// Returns the settings. Where a value is refused, the mode is kOff and `reason` says "NAME: expected X, got
// Y".
Settings ReadSettings(const char* shrink, const char* budget, const char* image, const char* report,
                      vote::Reason* reason);

}  // namespace crossover::shrink::library
