// Text for terminals: columns, and numbers as people read them. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace crossover::cli {

// Rows of cells as lines of aligned columns, two spaces between them. A cell that begins like a number stands
// at the right of its column.
std::string Columns(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "");

std::string Number(double value, int decimals);
// "-" where there is none.
std::string NumberOr(bool known, double value, int decimals, const char* unit = "");
std::string Duration(double seconds);  // 12 s, 3.4 min, 5.6 h, 7.8 d

}  // namespace crossover::cli
