#include "common/kube/timestamp.h"

#include <chrono>
#include <ctime>

namespace crossover::kube {
namespace {

// Removes a number of `digits` digits from the front of `text` and returns it.
std::optional<int> TakeNumber(std::string_view* text, std::size_t digits) {
  if (text->size() < digits) return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return number;
}

bool TakeOneOf(std::string_view* text, std::string_view letters) {
  if (text->empty() || letters.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

// Removes two-digit numbers with `separator` between them from the front of `text` and stores them in
// `numbers`. Returns false if there are not as many as `numbers` has places.
bool TakePairs(std::string_view* text, std::string_view separator, std::initializer_list<int*> numbers) {
  bool first = true;
  for (int* number : numbers) {
    if (!first && !TakeOneOf(text, separator)) return false;
    first = false;
    const auto taken = TakeNumber(text, 2);
    if (!taken) return false;
    *number = *taken;
  }
  return true;
}

// Removes a fraction of a second from the front of `text` and returns it; 0 without one. Returns nothing
// for a point without a digit after it.
std::optional<double> TakeFraction(std::string_view* text) {
  if (!TakeOneOf(text, ".")) return 0;
  double fraction = 0, place = 1;
  bool digits = false;
  while (const auto digit = TakeNumber(text, 1)) {
    place /= 10;
    fraction += *digit * place;
    digits = true;
  }
  return digits ? std::optional(fraction) : std::nullopt;
}

// Removes a time zone from the front of `text` and returns how far it is ahead of UTC, in seconds.
std::optional<int> TakeZone(std::string_view* text) {
  if (TakeOneOf(text, "Zz")) return 0;
  const bool behind = text->starts_with('-');
  int hours = 0, minutes = 0;
  if (!TakeOneOf(text, "+-") || !TakePairs(text, ":", {&hours, &minutes})) return std::nullopt;
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (behind ? -1 : 1) * (hours * 3600 + minutes * 60);
}

}  // namespace

std::optional<double> ParseTimestamp(std::string_view text) {
  const auto year = TakeNumber(&text, 4);
  int month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!year || !TakeOneOf(&text, "-") || !TakePairs(&text, "-", {&month, &day})) return std::nullopt;
  if (!TakeOneOf(&text, "Tt ") || !TakePairs(&text, ":", {&hour, &minute, &second})) return std::nullopt;
  const auto fraction = TakeFraction(&text);
  const auto zone = TakeZone(&text);
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!fraction || !zone || !text.empty() || !date.ok()) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;  // 60: a leap second
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400.0 + hour * 3600 + minute * 60 + second - *zone + *fraction;
}

std::string WriteTimestamp(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[32];
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace crossover::kube
