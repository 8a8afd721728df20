// Parses and formats numbers.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace crossover::text {

// Parses a decimal integer, which may have a minus sign. Returns nothing for any other text and for values
// outside [low, high].
inline std::optional<std::int64_t> ParseInteger(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    return std::nullopt;
  return value;
}

// Returns `number` in decimal notation with at most three digits after the point and no trailing zeros: 12,
// 0.5.
inline std::string Decimal(double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", number);
  std::string decimal = text.data();
  decimal.erase(decimal.find_last_not_of('0') + 1);
  if (decimal.back() == '.') decimal.pop_back();
  return decimal;
}

// Rounds `value` to this many significant figures. Returns 0 for infinities and for values that are not a
// number.
inline double ToFigures(double value, int figures) {
  if (std::abs(value) < 1e-12 || !std::isfinite(value)) return 0;
  const double place = std::pow(10.0, figures - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * place) / place;
}
inline double ToFourFigures(double value) { return ToFigures(value, 4); }

}  // namespace crossover::text
