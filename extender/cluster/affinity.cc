#include "extender/cluster/affinity.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace crossover::extender {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::optional<std::int64_t> NumberOf(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// The only field is the name; it has one value, and there are two ways to ask.
bool FieldHolds(const Requirement& requirement, const Node& node) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
  const bool same = requirement.values.front() == node.name;
  return (requirement.op == "In" && same) || (requirement.op == "NotIn" && !same);
}

bool Compares(const Requirement& requirement, const std::string& label) {
  if (requirement.values.size() != 1) return false;
  const auto has = NumberOf(label);
  const auto bound = NumberOf(requirement.values.front());
  if (!has || !bound) return false;
  return requirement.op == "Gt" ? *has > *bound : *has < *bound;
}

std::string ListOf(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
  return list;
}

std::string TextOf(const Requirement& requirement) {
  std::string text = requirement.key + " " + requirement.op;
  if (!requirement.values.empty()) text += " [" + ListOf(requirement.values) + "]";
  return text;
}

const Requirement* FirstThatFails(const std::vector<Requirement>& term, const Node& node) {
  const auto found = std::find_if(term.begin(), term.end(),
                                  [&](const Requirement& requirement) { return !Holds(requirement, node); });
  return found == term.end() ? nullptr : &*found;
}

bool TermHolds(const std::vector<Requirement>& term, const Node& node) {
  return !term.empty() && FirstThatFails(term, node) == nullptr;
}

}  // namespace

bool Holds(const Requirement& requirement, const Node& node) {
  if (requirement.of_field) return FieldHolds(requirement, node);
  const auto label = node.labels.find(requirement.key);
  const bool there = label != node.labels.end();
  if (requirement.op == "In") return there && Contains(requirement.values, label->second);
  if (requirement.op == "NotIn") return !there || !Contains(requirement.values, label->second);
  if (requirement.op == "Exists") return there;
  if (requirement.op == "DoesNotExist") return !there;
  if (requirement.op == "Gt" || requirement.op == "Lt") return there && Compares(requirement, label->second);
  return false;
}

std::string WhyNotSelected(const Pod& pod, const Node& node) {
  for (const auto& [key, value] : pod.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value)
      return "it does not have the label " + key + "=" + value + " of the pod's nodeSelector";
  }
  if (pod.affinity.empty()) return "";
  const auto holds = [&](const std::vector<Requirement>& term) { return TermHolds(term, node); };
  if (std::any_of(pod.affinity.begin(), pod.affinity.end(), holds)) return "";
  const std::string not_met = "the pod's node affinity is not met";
  if (pod.affinity.size() > 1 || pod.affinity.front().empty()) return not_met;
  return not_met + ": " + TextOf(*FirstThatFails(pod.affinity.front(), node));
}

}  // namespace crossover::extender
