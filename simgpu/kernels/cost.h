// Says what a kernel costs of which only the name and the launch are known: how long it runs at full speed,
// and how many SMs it asks for. The first rule whose pattern is found in its name decides. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

// A KernelRule is one rule. What it does not say, the defaults say.
struct KernelRule {
  std::string name;          // a POSIX extended regular expression, found anywhere in the kernel's name
  std::optional<double> ns;  // of a launch of up to one wave of threads
  std::optional<double> ns_per_wave;    // of each further wave
  std::optional<double> ns_per_kib;     // of each KiB that the kernel's effect reads or writes, if it has one
  std::optional<int> sms;               // that it asks for; without it, those that its blocks fill
  std::shared_ptr<const void> pattern;  // compiled
};

struct KernelCosts {
  std::vector<KernelRule> rules;
  double scale = 1;  // of all times
};

// Compiles rule->name into rule->pattern. Returns false, with what is wrong in *error, if it is no regular
// expression.
bool CompilePattern(KernelRule* rule, std::string* error);

// Returns the first rule that fits the name, or a rule that says nothing.
const KernelRule& RuleOf(const KernelCosts& costs, const std::string& name);

// A LaunchShape is what a cost depends on besides the kernel.
struct LaunchShape {
  std::uint64_t blocks = 1;
  std::uint64_t threads = 1;  // of a block
  std::uint64_t bytes = 0;    // that the effect reads or writes; 0 if there is none
  int gpu_sms = 1;
};

struct LaunchCost {
  double ns = 0;
  std::optional<int> sms;
};

// Returns what a launch costs. A wave is as many threads as the GPU holds at once.
LaunchCost CostOf(const KernelRule& rule, double scale, const LaunchShape& shape);

}  // namespace simgpu
