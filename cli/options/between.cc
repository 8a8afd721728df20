#include "cli/options/between.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "common/base/refusal.h"

namespace crossover::cli {

CLI::Validator Between(double low, double high) {
  std::array<char, 64> range{};
  std::snprintf(range.data(), range.size(), "a number from %g to %g", low, high);
  const std::string expected = range.data();
  const auto check = [low, high, expected](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= low && value <= high)
      return std::string();
    const std::string shown = base::Shown(text);
    return "expected " + expected + ", got " + (shown.empty() ? "\"\"" : shown);
  };
  return CLI::Validator(check, expected.substr(2));
}

}  // namespace crossover::cli
