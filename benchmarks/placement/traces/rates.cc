#include "benchmarks/placement/traces/rates.h"

#include <simdjson.h>

#include <algorithm>
#include <stdexcept>

#include "benchmarks/placement/traces/job.h"
#include "common/text/number.h"

namespace crossover::benchmarks {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

[[noreturn]] void Refuse(const std::string& where, std::string_view allowed) {
  throw std::runtime_error(where + ": " + std::string(allowed) + " is needed");
}

// Returns a key as errors show it: one line, and not too long.
std::string Shown(std::string_view key) {
  std::string shown(key.substr(0, 60));
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' '; }, '?');
  return shown;
}

object ObjectOf(const element& value, const std::string& where) {
  object found;
  if (value.get(found) != simdjson::SUCCESS) Refuse(where, "an object");
  return found;
}

// Parses ('MODEL', GPUS), as Python prints such a pair.
std::pair<std::string, int> KeyOf(std::string_view key, const std::string& where) {
  constexpr std::string_view kBegin = "('", kBetween = "', ";
  const std::size_t between = key.rfind(kBetween);
  if (key.substr(0, kBegin.size()) == kBegin && key.back() == ')' && between != key.npos &&
      between > kBegin.size()) {
    const std::string_view count = key.substr(between + kBetween.size());
    if (const auto gpus = text::ParseInteger(count.substr(0, count.size() - 1), 1, kMostGpus))
      return {std::string(key.substr(kBegin.size(), between - kBegin.size())), static_cast<int>(*gpus)};
  }
  Refuse(where, "a key of the form ('MODEL', GPUS)");
}

}  // namespace

Rates ParseRates(std::string_view json, const std::string& file, const std::string& kind) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(json);
  element all, rated;
  if (const simdjson::error_code error = parser.parse(text).get(all); error != simdjson::SUCCESS)
    throw std::runtime_error(file + ": not JSON: " + simdjson::error_message(error));
  if (ObjectOf(all, file).at_key(kind).get(rated) != simdjson::SUCCESS)
    Refuse(file + ": " + kind, "an object");
  Rates rates;
  for (const auto& [key, value] : ObjectOf(rated, file + ": " + kind)) {
    const std::string where = file + ": " + kind + "." + Shown(key);
    double rate = 0;
    const simdjson::error_code error = ObjectOf(value, where).at_key("null").get(rate);
    if (error != simdjson::SUCCESS || !(rate >= 0 && rate <= 1e9))
      Refuse(where + ".null", "a number of steps per second from 0 to 1e9");
    const std::pair<std::string, int> model = KeyOf(key, where);
    if (rate > 0) rates[model] = rate;
  }
  return rates;
}

}  // namespace crossover::benchmarks
