#include "benchmarks/placement/traces/rates.h"

#include <simdjson.h>

#include <stdexcept>

#include "benchmarks/placement/traces/job.h"
#include "common/base/refusal.h"
#include "common/text/number.h"

namespace crossover::benchmarks {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

[[noreturn]] void Refuse(const std::string& where, std::string_view expected, const std::string& got) {
  throw std::runtime_error(base::Refusal(where, expected, base::Shown(got)));
}

object ObjectOf(const element& value, const std::string& where) {
  object found;
  if (value.get(found) != simdjson::SUCCESS) Refuse(where, "an object", simdjson::minify(value));
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
  Refuse(where, "keys of the form ('MODEL', GPUS)", std::string(key));
}

}  // namespace

Rates ParseRates(std::string_view json, const std::string& file, const std::string& kind) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(json);
  element all, rated;
  if (const simdjson::error_code error = parser.parse(text).get(all); error != simdjson::SUCCESS)
    throw std::runtime_error(file + ": not JSON: " + simdjson::error_message(error));
  if (ObjectOf(all, file).at_key(kind).get(rated) != simdjson::SUCCESS)
    Refuse(file + ": " + kind, "an object", "nothing");
  Rates rates;
  for (const auto& [key, value] : ObjectOf(rated, file + ": " + kind)) {
    const std::string where = file + ": " + kind + "." + base::Shown(key);
    element alone;
    const bool there = ObjectOf(value, where).at_key("null").get(alone) == simdjson::SUCCESS;
    double rate = 0;
    if (!there || alone.get(rate) != simdjson::SUCCESS || !(rate >= 0 && rate <= 1e9))
      Refuse(where + ".null", "a number of steps per second from 0 to 1e9",
             there ? simdjson::minify(alone) : "nothing");
    const std::pair<std::string, int> model = KeyOf(key, file + ": " + kind);
    if (rate > 0) rates[model] = rate;
  }
  return rates;
}

}  // namespace crossover::benchmarks
