// Writes text for terminals: columns, and numbers for people. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace crossover::cli {

// Returns the rows as lines with aligned columns, two spaces apart. A column is aligned to the right if all
// its cells below the first row begin with a digit or are "-".
std::string Columns(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "");

// Returns the number with this many digits after the point.
std::string Number(double value, int decimals);
// Returns the number with its unit, or "-" if it is not known.
std::string NumberOr(bool known, double value, int decimals, const char* unit = "");
// Returns a text such as 12 s, 3.4 min, 5.6 h or 7.8 d.
std::string Duration(double seconds);

}  // namespace crossover::cli
