// Fields of objects that may be anything: what cannot be is 0 or empty. Pure; none of it throws.
#pragma once

#include <cmath>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/json.h"

namespace crossover::extender::fields {

inline constexpr std::size_t kLongestText = 253;

inline std::string TextIn(const nlohmann::json& object, const char* key) {
  std::string text = kube::Text(kube::At(object, key));
  return text.size() <= kLongestText ? text : std::string();
}

// 0 to `most`.
inline double NumberIn(const nlohmann::json& object, const char* key, double most) {
  const nlohmann::json& value = kube::At(object, key);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return std::isfinite(number) && number > 0 && number <= most ? number : 0;
}

inline bool YesIn(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = kube::At(object, key);
  return value.is_boolean() && value.get<bool>();
}

// Seconds since 1970 of an instant as we write them.
inline double TimeIn(const nlohmann::json& object, const char* key) {
  const std::string text = TextIn(object, key);
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return 0;
  const auto seconds = static_cast<double>(::timegm(&parts));
  return seconds > 0 ? seconds : 0;
}

inline std::string TimeText(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&time, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace crossover::extender::fields
