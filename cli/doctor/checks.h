// Declares the checks of `crossover doctor`. Each judges facts and says what it saw and what to do. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.h"

namespace crossover::cli {

enum class Verdict : std::uint8_t {
  kOk,
  kUnknown,  // the check could not look
  kWarn,     // jobs run, but not as well as they could
  kFail      // until this is repaired, jobs take no turns or do not start
};
// Returns the word for the verdict in reports.
std::string_view Name(Verdict verdict);

// A Finding is the result of one check.
struct Finding {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string seen;
  std::string advice;  // empty if there is nothing to do
};

// Runs all checks and returns their findings in the order in which they are shown.
std::vector<Finding> Examine(const Facts& facts);

// Returns the report as text: one line for each check, and one more if it has advice.
std::string ReportText(const std::vector<Finding>& findings);
// Returns the report as JSON: {"verdict": the worst, "checks": [{"name", "verdict", "seen", "advice"},
// ...]}
std::string ReportJson(const std::vector<Finding>& findings);

// Returns 1 if a check failed, else 0.
int ExitCode(const std::vector<Finding>& findings);

}  // namespace crossover::cli
