#include "common/kube/label_selector.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/kube/json.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

// Returns whether `object[key]` is missing, null, or of this type.
bool MayBe(const json& object, const char* key, json::value_t type) {
  const json& value = At(object, key);
  return value.is_null() || value.type() == type;
}

// Reads one expression. Returns whether Kubernetes accepts it.
bool ReadExpression(const json& expression, Requirement* to) {
  constexpr std::array<std::string_view, 2> kOfValues = {"In", "NotIn"};
  constexpr std::array<std::string_view, 2> kOfKeys = {"Exists", "DoesNotExist"};
  if (!MayBe(expression, "values", json::value_t::array)) return false;
  to->key = Text(At(expression, "key"));
  to->op = Text(At(expression, "operator"));
  for (const json& value : ListAt(expression, "values")) {
    if (!value.is_string()) return false;
    to->values.push_back(Text(value));
  }
  if (to->key.empty()) return false;
  if (std::ranges::find(kOfValues, to->op) != kOfValues.end()) return !to->values.empty();
  return std::ranges::find(kOfKeys, to->op) != kOfKeys.end() && to->values.empty();
}

}  // namespace

LabelSelector LabelSelectorOf(const json& selector) {
  LabelSelector read;
  if (!selector.is_object() || !MayBe(selector, "matchLabels", json::value_t::object) ||
      !MayBe(selector, "matchExpressions", json::value_t::array))
    return {};
  if (const json& labels = At(selector, "matchLabels"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (!value.is_string()) return {};
      read.labels[key] = Text(value);
    }
  }
  for (const json& expression : ListAt(selector, "matchExpressions")) {
    if (!ReadExpression(expression, &read.expressions.emplace_back())) return {};
  }
  read.nothing = false;
  return read;
}

bool Matches(const LabelSelector& selector, const Labels& labels) {
  if (selector.nothing) return false;
  const bool all = std::ranges::all_of(selector.labels, [&labels](const auto& entry) {
    const auto label = labels.find(entry.first);
    return label != labels.end() && label->second == entry.second;
  });
  return all && std::ranges::all_of(selector.expressions, [&labels](const Requirement& requirement) {
           return Holds(requirement, "", labels);
         });
}

}  // namespace crossover::kube
