#include "benchmarks/placement/traces/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "common/base/refusal.h"
#include "common/text/number.h"

namespace crossover::benchmarks {
namespace {

std::vector<std::string> Cells(const std::string& line, char between) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == between) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::string Shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

// Reads the whole text as a number. Returns false where it is none.
bool Read(const std::string& text, double* value) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stopped == end;
}

}  // namespace

Row::Row(std::string where, const std::vector<std::string>& names, std::vector<std::string> cells)
    : where_(std::move(where)), names_(&names), cells_(std::move(cells)) {
  if (cells_.size() == names.size()) return;
  throw std::runtime_error(
      base::Refusal(where_ + ": columns", std::to_string(names.size()), std::to_string(cells_.size())));
}

std::size_t Row::Place(const std::string& name) const {
  const auto found = std::ranges::find(*names_, name);
  if (found == names_->end()) throw std::runtime_error(where_ + ": no column " + name);
  return static_cast<std::size_t>(found - names_->begin());
}

const std::string& Row::Text(const std::string& name) const {
  const std::string& text = cells_[Place(name)];
  if (text.empty()) Refuse(name, "a text");
  return text;
}

double Row::Number(const std::string& name, double least, double most) const {
  double value = 0;
  if (!Read(Text(name), &value) || !(value >= least && value <= most))
    Refuse(name, "a number from " + Shown(least) + " to " + Shown(most));
  return value;
}

int Row::Whole(const std::string& name, int least, int most) const {
  const auto value = text::ParseInteger(Text(name), least, most);
  if (!value) Refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<int>(*value);
}

void Row::Refuse(const std::string& name, const std::string& expected) const {
  throw std::runtime_error(base::Refusal(where_ + ": " + name, expected, base::Shown(cells_[Place(name)])));
}

void EachRow(std::istream& text, const std::string& file, char between, std::vector<std::string> names,
             const std::function<void(const Row&)>& take) {
  const bool named = !names.empty();
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.empty() || line == "\r") continue;
    if (names.empty()) {
      names = Cells(line, between);
      continue;
    }
    Row row(file + ":" + std::to_string(number), names, Cells(line, between));
    row.line_ = number;
    take(row);
  }
  if (names.empty() && !named) throw std::runtime_error(file + ": no line with the names of its columns");
}

std::ifstream Opened(const std::string& path) {
  std::ifstream file(path);
  // A directory can be opened, but not read.
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    throw std::runtime_error(path + ": cannot be read, or is empty");
  return file;
}

}  // namespace crossover::benchmarks
