#include <cstdint>
#include <nlohmann/json.hpp>

#include "extender/cluster/fields.h"
#include "extender/cluster/parse.h"

namespace crossover::extender {

std::optional<Budget> ParseBudget(const nlohmann::json& object) {
  using kube::At;
  Budget budget;
  budget.name_space = TextAt(At(object, "metadata"), "namespace");
  budget.name = TextAt(At(object, "metadata"), "name");
  if (budget.name_space.empty() || budget.name.empty()) return std::nullopt;
  budget.selector = kube::LabelSelectorOf(At(At(object, "spec"), "selector"));
  budget.allowed = static_cast<int>(WholeAt(At(object, "status"), "disruptionsAllowed", 0, INT32_MAX));
  return budget;
}

}  // namespace crossover::extender
