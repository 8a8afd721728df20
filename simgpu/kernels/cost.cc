#include "simgpu/kernels/cost.h"

#include <regex.h>

#include <algorithm>
#include <cmath>

#include "simgpu/model/constants.h"

namespace simgpu {
namespace {

constexpr double kFirstWaveNs = 2000, kFurtherWaveNs = 1000;

const regex_t* PatternOf(const KernelRule& rule) { return static_cast<const regex_t*>(rule.pattern.get()); }

}  // namespace

bool CompilePattern(KernelRule* rule, std::string* error) {
  if (rule->name.empty()) {
    *error = "an empty one";
    return false;
  }
  auto pattern = std::make_unique<regex_t>();
  const int problem = regcomp(pattern.get(), rule->name.c_str(), REG_EXTENDED | REG_NOSUB);
  if (problem == 0) {
    rule->pattern = std::shared_ptr<const regex_t>(pattern.release(), [](const regex_t* compiled) {
      regfree(const_cast<regex_t*>(compiled));
      delete compiled;
    });
    return true;
  }
  char text[128];
  regerror(problem, pattern.get(), text, sizeof text);
  *error = text;
  return false;
}

const KernelRule& RuleOf(const KernelCosts& costs, const std::string& name) {
  static const KernelRule silent;
  for (const KernelRule& rule : costs.rules) {
    if (regexec(PatternOf(rule), name.c_str(), 0, nullptr, 0) == 0) return rule;
  }
  return silent;
}

LaunchCost CostOf(const KernelRule& rule, double scale, const LaunchShape& shape) {
  const double wave = static_cast<double>(constants::kThreadsOfAnSm) * std::max(shape.gpu_sms, 1);
  const double threads = static_cast<double>(shape.blocks) * static_cast<double>(shape.threads);
  const double further = std::max(std::ceil(threads / wave) - 1, 0.0);
  LaunchCost cost;
  cost.ns = rule.ns.value_or(kFirstWaveNs) + further * rule.ns_per_wave.value_or(kFurtherWaveNs) +
            static_cast<double>(shape.bytes) / 1024 * rule.ns_per_kib.value_or(0);
  cost.ns *= scale;
  cost.sms = rule.sms;
  return cost;
}

}  // namespace simgpu
