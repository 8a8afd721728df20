#include "extender/cluster/parse_budget.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/api/fields.h"

namespace crossover::extender {

std::optional<Budget> ParseBudget(const nlohmann::json& object) {
  using kube::At;
  Budget budget;
  budget.name_space = api::TextAt(At(object, "metadata"), "namespace");
  budget.name = api::TextAt(At(object, "metadata"), "name");
  if (budget.name_space.empty() || budget.name.empty()) return std::nullopt;
  budget.selector = kube::LabelSelectorOf(At(At(object, "spec"), "selector"));
  budget.allowed = static_cast<int>(api::WholeAt(At(object, "status"), "disruptionsAllowed", 0, INT32_MAX));
  return budget;
}

}  // namespace crossover::extender
