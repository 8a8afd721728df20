#include "cli/render/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace crossover::cli {
namespace {

bool IsNumber(const std::string& cell) {
  return cell == "-" || (!cell.empty() && cell.front() >= '0' && cell.front() <= '9');
}

}  // namespace

std::string Columns(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::size_t> width;
  std::vector<bool> right;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    width.resize(std::max(width.size(), rows[r].size()), 0);
    right.resize(width.size(), true);
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      width[c] = std::max(width[c], rows[r][c].size());
      if (r > 0) right[c] = right[c] && IsNumber(rows[r][c]);
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(width[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? gap + row[c] : row[c] + gap);
    }
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Number(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string NumberOr(bool known, double value, int decimals, const char* unit) {
  return known ? Number(value, decimals) + unit : "-";
}

std::string Duration(double seconds) {
  if (seconds < 100) return Number(seconds, 0) + " s";
  if (seconds < 100 * 60) return Number(seconds / 60, 1) + " min";
  if (seconds < 48 * 3600) return Number(seconds / 3600, 1) + " h";
  return Number(seconds / 86400, 1) + " d";
}

}  // namespace crossover::cli
