#include "extender/cluster/fields.h"

#include <algorithm>
#include <cmath>

#include "common/kube/quantity.h"
#include "extender/cluster/timestamp.h"

namespace crossover::extender {

using kube::At;
using kube::Text;
using nlohmann::json;

const json& List(const json& object, const char* key) {
  static const json empty = json::array();
  const json& list = At(object, key);
  return list.is_array() ? list : empty;
}

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
  return ParseTimestamp(value.get_ref<const std::string&>()).value_or(0);
}

Labels LabelsAt(const json& object, const char* key) {
  Labels labels;
  const json& pairs = At(object, key);
  if (!pairs.is_object()) return labels;
  for (const auto& [name, value] : pairs.items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

Resources ResourcesAt(const json& object, const char* key) {
  Resources resources;
  const json& amounts = At(object, key);
  if (!amounts.is_object()) return resources;
  for (const auto& [name, amount] : amounts.items()) {
    if (name == "cpu") {
      resources.milli_cpu = kube::QuantityOf(amount, 1000);
    } else if (name == "memory") {
      resources.memory = kube::QuantityOf(amount);
    } else if (const std::int64_t count = kube::QuantityOf(amount); count > 0) {
      resources.others.emplace(name, count);
    }
  }
  return resources;
}

std::string Cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;  // amid a letter
  text.resize(bytes);
  return text;
}

}  // namespace crossover::extender
