// The doctor's checks: each judges facts and says what it saw and what to do. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.h"

namespace crossover::cli {

enum class Verdict : std::uint8_t {
  kOk,
  kUnknown,  // it could not be looked at
  kWarn,     // jobs run, but not as well as they could
  kFail      // jobs take no turns, or do not start, until it is mended
};
std::string_view Name(Verdict verdict);

struct Finding {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string seen;
  std::string advice;  // empty where there is nothing to do
};

// All checks, in the order in which they are shown.
std::vector<Finding> Examine(const Facts& facts);

// One line per check, and one more for advice.
std::string ReportText(const std::vector<Finding>& findings);
// {"verdict": the worst, "checks": [{"name", "verdict", "seen", "advice"}, ...]}
std::string ReportJson(const std::vector<Finding>& findings);

// 1 where a check failed, else 0.
int ExitCode(const std::vector<Finding>& findings);

}  // namespace crossover::cli
