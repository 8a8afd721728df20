#include "common/api/fields.h"

#include <algorithm>
#include <cmath>

#include "common/kube/timestamp.h"

namespace crossover::api {

using kube::At;
using kube::Text;
using nlohmann::json;

std::string TextAt(const json& object, const char* key) { return Text(At(object, key)); }

bool IsTrue(const json& object, const char* key) {
  const json& value = At(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::int64_t WholeAt(const json& object, const char* key, std::int64_t least, std::int64_t most) {
  const json& value = At(object, key);
  std::int64_t whole = 0;
  if (value.is_number_unsigned()) {
    whole = static_cast<std::int64_t>(
        std::min<std::uint64_t>(value.get<std::uint64_t>(), static_cast<std::uint64_t>(INT64_MAX)));
  } else if (value.is_number_integer()) {
    whole = value.get<std::int64_t>();
  }
  return std::clamp(whole, least, most);
}

double RealAt(const json& object, const char* key) {
  const json& value = At(object, key);
  const double real = value.is_number() ? value.get<double>() : 0;
  return std::isfinite(real) && real > 0 ? real : 0;
}

double InstantAt(const json& object, const char* key) {
  const json& value = At(object, key);
  if (!value.is_string()) return 0;
  return kube::ParseTimestamp(value.get_ref<const std::string&>()).value_or(0);
}

std::string TextIn(const json& object, const char* key) {
  std::string text = TextAt(object, key);
  return text.size() <= kLongestText ? text : std::string();
}

double NumberIn(const json& object, const char* key, double most) {
  const double number = RealAt(object, key);
  return number <= most ? number : 0;
}

double TimeIn(const json& object, const char* key) {
  constexpr std::size_t kAsWritten = 20;  // 2026-11-21T01:44:45Z
  const std::string text = TextAt(object, key);
  if (text.size() != kAsWritten || text.back() != 'Z') return 0;
  return std::max(kube::ParseTimestamp(text).value_or(0), 0.0);
}

}  // namespace crossover::api
