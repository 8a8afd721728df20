#include "common/kube/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace crossover::kube {
namespace {

constexpr std::array<std::pair<std::string_view, long double>, 16> kSuffixes = {{
    {"", 1.0L},
    {"n", 1e-9L},
    {"u", 1e-6L},
    {"m", 1e-3L},
    {"k", 1e3L},
    {"M", 1e6L},
    {"G", 1e9L},
    {"T", 1e12L},
    {"P", 1e15L},
    {"E", 1e18L},
    {"Ki", 0x1p10L},
    {"Mi", 0x1p20L},
    {"Gi", 0x1p30L},
    {"Ti", 0x1p40L},
    {"Pi", 0x1p50L},
    {"Ei", 0x1p60L},
}};
constexpr std::size_t kLongest = 64;   // characters of a text
constexpr int kMostExponent = 40;      // beyond it, every amount is 0 or too large
constexpr long double kExact = 1e-9L;  // in units: the error of decimal fractions in binary

// Removes a decimal number from the front of `text` and returns it.
std::optional<long double> TakeNumber(std::string_view* text) {
  long double value = 0, place = 1;
  bool digits = false, fraction = false;
  std::size_t i = text->starts_with('+') ? 1 : 0;
  for (; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      if (fraction) place *= 10;
      value = value * 10 + (c - '0');
    } else {
      break;
    }
  }
  if (!digits) return std::nullopt;
  text->remove_prefix(i);
  return value / place;
}

std::optional<long double> FactorOf(std::string_view suffix) {
  for (const auto& [name, factor] : kSuffixes) {
    if (suffix == name) return factor;
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto parsed = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (parsed.ec != std::errc() || parsed.ptr != suffix.data() + suffix.size()) return std::nullopt;
  return std::pow(10.0L, std::clamp(exponent, -kMostExponent, kMostExponent));
}

}  // namespace

std::optional<std::int64_t> ParseQuantity(std::string_view text, std::int64_t scale) {
  if (text.size() > kLongest) return std::nullopt;
  const auto number = TakeNumber(&text);
  if (!number) return std::nullopt;
  const auto factor = FactorOf(text);
  if (!factor) return std::nullopt;
  const long double exact = *number * *factor * static_cast<long double>(scale);
  const long double near = std::round(exact);
  const long double value = std::abs(exact - near) < kExact ? near : std::ceil(exact);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return value >= static_cast<long double>(kMost) ? kMost : static_cast<std::int64_t>(value);
}

std::int64_t QuantityOf(const nlohmann::json& value, std::int64_t scale) {
  if (value.is_string()) return ParseQuantity(value.get_ref<const std::string&>(), scale).value_or(0);
  return value.is_number() ? ParseQuantity(value.dump(), scale).value_or(0) : 0;
}

std::optional<std::int64_t> CountOf(const nlohmann::json& value) {
  if (!value.is_string() && !value.is_number()) return std::nullopt;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto thousandths = ParseQuantity(text, 1000);  // at most INT64_MAX, which is no count
  if (!thousandths || *thousandths % 1000 != 0) return std::nullopt;
  return *thousandths / 1000;
}

}  // namespace crossover::kube
