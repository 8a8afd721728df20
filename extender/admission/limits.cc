#include "extender/admission/limits.h"

#include "common/kube/json.h"

namespace crossover::extender::admission {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;
using Kind = RangeRule::Kind;

// These are the keys of a LimitRange's item. A default request alone counts as a default: requests and limits
// of such resources are equal.
constexpr struct {
  const char* key;
  Kind kind;
} kKeys[] = {{"default", Kind::kDefault},
             {"defaultRequest", Kind::kDefault},
             {"max", Kind::kMax},
             {"min", Kind::kMin},
             {"maxLimitRequestRatio", Kind::kRatio}};

}  // namespace

const char* NameOf(Kind kind) {
  for (const auto& known : kKeys) {
    if (known.kind == kind) return known.key;
  }
  return "";
}

std::set<std::string> ReadQuota(const json& object) {
  std::set<std::string> limited;
  const json& hard = At(At(object, "spec"), "hard");
  if (!hard.is_object()) return limited;
  for (const auto& [resource, amount] : hard.items()) limited.insert(resource);
  return limited;
}

std::vector<RangeRule> ReadLimitRange(const json& object) {
  std::vector<RangeRule> rules;
  const std::string name = Text(At(At(object, "metadata"), "name"));
  for (const json& item : kube::ListAt(At(object, "spec"), "limits")) {
    const std::string type = Text(At(item, "type"));
    if (type != "Container" && type != "Pod") continue;
    for (const auto& known : kKeys) {
      const json& amounts = At(item, known.key);
      if (!amounts.is_object()) continue;
      for (const auto& [resource, amount] : amounts.items()) {
        rules.push_back({.kind = known.kind,
                         .range = name,
                         .resource = resource,
                         .amount = amount.is_string() ? amount.get<std::string>() : amount.dump()});
      }
    }
  }
  return rules;
}

std::optional<NamespaceLimits> Limits::In(const std::string& name_space) const {
  const auto quotas = quotas_.In(name_space);
  const auto ranges = ranges_.In(name_space);
  if (!quotas || !ranges) return std::nullopt;
  NamespaceLimits limits;
  for (const auto& limited : *quotas) limits.quotas.insert(limited.begin(), limited.end());
  for (const auto& rules : *ranges) limits.ranges.insert(limits.ranges.end(), rules.begin(), rules.end());
  return limits;
}

}  // namespace crossover::extender::admission
