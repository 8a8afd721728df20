// What users may say in annotations of ours: one rule for whoever refuses, plans or heeds them. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace crossover::annotations {

struct Rule {
  const char* key;
  bool (*allows)(const char* text);
  const char* allowed;  // in words: what `allows` accepts
};

// All that users may set on pods.
std::span<const Rule> RulesOfPods();
// Of one of these, or of a node's switches; null for any other key.
const Rule* RuleOf(std::string_view key);

// Such as "crossover.dev/mode: Off is not allowed: enforce, observe or off". Nothing for a value that is
// allowed, or a key without a rule.
std::optional<std::string> FaultOf(const std::string& key, const std::string& value);

// Of the keys that users may set on pods the one that is written most like `key`.
std::string NearestTo(std::string_view key);

}  // namespace crossover::annotations
