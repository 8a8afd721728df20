#include "cli/cluster/selection.h"

#include <algorithm>
#include <string>

#include "cli/cluster/objects.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using kube::At;

bool Holds(const json& expression, const json& labels) {
  const json& value = At(labels, TextAt(expression, {"key"}).c_str());
  const json& values = ListAt(expression, {"values"});
  const bool is_there = !value.is_null();
  const bool is_among = is_there && std::find(values.begin(), values.end(), value) != values.end();
  const std::string how = TextAt(expression, {"operator"});
  if (how == "In") return is_among;
  if (how == "NotIn") return !is_among;
  if (how == "Exists") return is_there;
  if (how == "DoesNotExist") return !is_there;
  return true;
}

// A term that says nothing lets no node in.
bool LetsIn(const json& term, const json& labels) {
  const json& expressions = ListAt(term, {"matchExpressions"});
  if (expressions.empty()) return !ListAt(term, {"matchFields"}).empty();
  return std::all_of(expressions.begin(), expressions.end(),
                     [&labels](const json& expression) { return Holds(expression, labels); });
}

}  // namespace

bool MayBeOn(const json& pod, const json& node) {
  const json& labels = At(At(node, "metadata"), "labels");
  for (const auto& [key, value] : At(At(pod, "spec"), "nodeSelector").items()) {
    if (At(labels, key.c_str()) != value) return false;
  }
  const json& terms = ListAt(pod, {"spec", "affinity", "nodeAffinity",
                                   "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  return terms.empty() || std::any_of(terms.begin(), terms.end(),
                                      [&labels](const json& term) { return LetsIn(term, labels); });
}

}  // namespace crossover::cli
