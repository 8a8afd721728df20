#include "common/kube/node_selection.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/kube/json.h"
#include "common/text/list.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using Term = std::vector<Requirement>;

void AddRequirements(const json& term, const char* key, bool of_field, Term* to) {
  for (const json& expression : ListAt(term, key)) {
    Requirement requirement{.key = Text(At(expression, "key")),
                            .op = Text(At(expression, "operator")),
                            .values = {},
                            .of_field = of_field};
    for (const json& value : ListAt(expression, "values")) requirement.values.push_back(Text(value));
    to->push_back(std::move(requirement));
  }
}

std::vector<Term> AffinityIn(const json& spec) {
  const json& required =
      At(At(At(spec, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution");
  std::vector<Term> terms;
  if (!required.is_object()) return terms;
  for (const json& term : ListAt(required, "nodeSelectorTerms")) {
    AddRequirements(term, "matchExpressions", false, &terms.emplace_back());
    AddRequirements(term, "matchFields", true, &terms.back());
  }
  if (terms.empty()) terms.emplace_back();  // an affinity without terms matches no node
  return terms;
}

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

// Returns whether a requirement on a field holds. Kubernetes allows the field metadata.name with one value,
// and the operators In and NotIn.
bool FieldHolds(const Requirement& requirement, const std::string& node) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
  const bool same = requirement.values.front() == node;
  return (requirement.op == "In" && same) || (requirement.op == "NotIn" && !same);
}

bool Compares(const Requirement& requirement, const std::string& label) {
  if (requirement.values.size() != 1) return false;
  const auto has = NumberOf(label);
  const auto bound = NumberOf(requirement.values.front());
  if (!has || !bound) return false;
  return requirement.op == "Gt" ? *has > *bound : *has < *bound;
}

std::string TextOf(const Requirement& requirement) {
  std::string text = requirement.key + " " + requirement.op;
  if (requirement.values.empty()) return text;
  std::string list;
  for (const std::string& value : requirement.values) text::AddTo(&list, value);
  return text + " [" + list + "]";
}

}  // namespace

NodeSelection NodeSelectionOf(const json& spec) {
  return {.selector = LabelsAt(spec, "nodeSelector"), .affinity = AffinityIn(spec)};
}

bool Holds(const Requirement& requirement, const std::string& node, const Labels& labels) {
  if (requirement.of_field) return FieldHolds(requirement, node);
  const auto label = labels.find(requirement.key);
  const bool there = label != labels.end();
  if (requirement.op == "In") return there && Contains(requirement.values, label->second);
  if (requirement.op == "NotIn") return !there || !Contains(requirement.values, label->second);
  if (requirement.op == "Exists") return there;
  if (requirement.op == "DoesNotExist") return !there;
  if (requirement.op == "Gt" || requirement.op == "Lt") return there && Compares(requirement, label->second);
  return false;
}

std::string WhyNotSelected(const NodeSelection& selection, const std::string& node, const Labels& labels) {
  for (const auto& [key, value] : selection.selector) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value)
      return "the node does not have the label " + key + "=" + value + " of the pod's nodeSelector";
  }
  const auto fails = [&](const Requirement& requirement) { return !Holds(requirement, node, labels); };
  const auto holds = [&](const Term& term) {
    return !term.empty() && std::none_of(term.begin(), term.end(), fails);
  };
  const auto& terms = selection.affinity;
  if (terms.empty() || std::any_of(terms.begin(), terms.end(), holds)) return "";
  const std::string not_met = "the pod's node affinity is not met";
  const Term& only = terms.front();
  if (terms.size() > 1 || only.empty()) return not_met;
  return not_met + ": " + TextOf(*std::find_if(only.begin(), only.end(), fails));
}

}  // namespace crossover::kube
