#include "simgpu/graphs/plan.h"

#include <algorithm>
#include <map>

namespace simgpu {

GraphPlan PlanGraph(const std::vector<PlanNode>& nodes) {
  GraphPlan plan;
  std::map<std::uint64_t, std::size_t> branches;
  for (const PlanNode& node : nodes) {
    const auto [entry, added] = branches.try_emplace(node.stream, plan.gpus.size());
    if (added) plan.gpus.push_back(node.gpu);
    Step step{entry->second, {}, false};
    // It is enough to wait for the last of several nodes of one branch.
    std::map<std::size_t, std::size_t> last;
    for (const std::size_t dependency : node.dependencies) {
      const std::size_t branch = plan.steps[dependency].branch;
      if (branch != step.branch) last[branch] = std::max(last[branch], dependency);
    }
    for (const auto& [branch, dependency] : last) {
      step.waits.push_back(dependency);
      plan.steps[dependency].awaited = true;
    }
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

}  // namespace simgpu
