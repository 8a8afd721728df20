// Reads what the owner of the job asks for. Pure values.
#pragma once

#include <cstdint>

#include "common/base/shrink_level.h"
#include "shrink/library/plan.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

using Mode = base::ShrinkLevel;

// Returns whether nodes exchange codes.
constexpr bool Exchanges(Mode mode) { return mode == Mode::kQ8 || mode == Mode::kAdaptive; }

struct Settings {
  Mode asked = Mode::kOff;        // what the owner asks for, as it is reported
  Mode mode = Mode::kOff;         // what this process does; never kAuto
  bool declines = false;          // the owner asks for kAuto, and no level is chosen: communicators are plain
  vote::Reason why_declines;      // the text is for a warning, and empty where calls pass by choice
  std::uint32_t budget_mib = 64;  // memory of each communicator on its GPU
  const char* image = nullptr;    // path of the kernels, in place of those within the library
  // The path of the file that the dry run writes, before the process ID and ".json".
  const char* report = nullptr;
  std::uint32_t error_percent = kWholeError;  // of adaptive bits: of the error of 4 bits everywhere
};

// Returns whether ranks of this process may meet others in a vote: they have a level, or decline.
constexpr bool Votes(const Settings& settings) { return Narrows(settings.mode) || settings.declines; }

// Texts are what the environment has; null: not set.
struct Texts {
  const char* shrink = nullptr;
  const char* choice = nullptr;  // of the extender, for kAuto
  const char* budget = nullptr;
  const char* image = nullptr;
  const char* report = nullptr;
  const char* error = nullptr;
};

inline constexpr std::uint32_t kMostBudgetMib = 65'536;

// Returns the settings. Where a value is refused, the mode is kOff and `reason` says "NAME: expected X, got
// Y". A choice that is missing or not known is no such value: the process declines.
Settings ReadSettings(const Texts& texts, vote::Reason* reason);

}  // namespace crossover::shrink::library
