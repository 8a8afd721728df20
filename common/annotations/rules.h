// Defines which values users may set in our annotations. The webhook that refuses values, the extender that
// plans with them and the node daemon that obeys them use the same rules. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace crossover::annotations {

// A Rule says which values one annotation may have.
struct Rule {
  const char* key;
  bool (*allows)(const char* text);
  const char* expected;  // describes what `allows` accepts
};

// Returns the rules of all annotations that users may set on pods.
std::span<const Rule> RulesOfPods();
// Returns the rule for `key`: one of RulesOfPods(), or the one for the maintenance annotation of a node.
// Returns null for any other key.
const Rule* RuleOf(std::string_view key);

// Returns why `value` is refused for `key`, such as "crossover.dev/mode: expected enforce, observe or off,
// got Off". Returns nothing if the rule accepts the value or the key has no rule.
std::optional<std::string> FaultOf(const std::string& key, const std::string& value);
// Returns the refusal of a label with the key `key` of our domain, which should be an annotation: "KEY:
// expected an annotation, got a label with the value VALUE". Does not look whether there is such an
// annotation.
std::string FaultOfLabel(const std::string& key, const std::string& value);

// Returns the pod annotation whose name is closest to `key` by edit distance and common beginning.
std::string NearestTo(std::string_view key);

}  // namespace crossover::annotations
