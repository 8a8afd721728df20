#include "common/annotations/rules.h"

#include <algorithm>
#include <vector>

#include "common/annotations/ours.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"

namespace crossover::annotations {
namespace {

using base::Same;

constexpr char kPrintable[] = "1 to 127 printable characters without spaces";

// Above each what it says, and what holds without it: docs/annotations.md has it from here, by
// tools/annotations_reference.py.
constexpr Rule kOfPods[] = {
    // Opts in; `exclusive`: nobody is put beside it. Default: the pod is none of ours.
    {base::kShareAnnotation, [](const char* text) { return Same(text, "true") || Same(text, "exclusive"); },
     "true or exclusive"},
    // Which pods of the namespace are one job. Default: from the JobSet, LeaderWorkerSet, training job or Job
    // that made them, or Kueue's group.
    {base::kGangAnnotation, base::IsGang, kPrintable},
    // How many those are. Default: from the same.
    {base::kGangSizeAnnotation, base::IsGangSize, "a number of pods from 1 to 1000000"},
    // How much of each GPU's memory it may have; more is refused to it as if the GPU were full. Default: the
    // peak of its profile and a tenth; without a profile it runs alone.
    {base::kGpuMemoryAnnotation, base::IsGpuMemory,
     "bytes, or a number with K, M, G, T, Ki, Mi, Gi or Ti, from 16Mi to 1024Ti"},
    // Runs with the same key are alike: what is known of one is expected of the next. Default: from owner,
    // image, command, slots and size.
    {base::kProfileKeyAnnotation, base::IsGang, kPrintable},
    // Whose turn comes first. Default: normal.
    {base::kTurnPriorityAnnotation, base::IsPriority, "high, normal or low"},
    // How much slower than alone its iterations may get. Default: no cap.
    {base::kMaxSlowdownAnnotation, base::IsSlowdown, "a number from 1.05 to 10 with at most three decimals"},
    // Whose jobs it may meet, within what an administrator allows. Default: namespace.
    {base::kShareWithAnnotation,
     [](const char* text) { return Same(text, "namespace") || Same(text, "cluster"); },
     "namespace or cluster"},
    // A switch: observed jobs run as without Crossover and are measured. Default: enforce.
    {base::kModeAnnotation,
     [](const char* text) { return Same(text, "enforce") || Same(text, "observe") || Same(text, "off"); },
     "enforce, observe or off"},
};

constexpr Rule kMaintenance = {base::kMaintenanceAnnotation,
                               [](const char* text) { return Same(text, "true") || Same(text, "false"); },
                               "true or false"};

// How many letters have to be put in, taken out or replaced.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Rule> RulesOfPods() { return kOfPods; }

const Rule* RuleOf(std::string_view key) {
  const auto found = std::find_if(std::begin(kOfPods), std::end(kOfPods),
                                  [key](const Rule& rule) { return key == rule.key; });
  if (found != std::end(kOfPods)) return found;
  return key == kMaintenance.key ? &kMaintenance : nullptr;
}

std::optional<std::string> FaultOf(const std::string& key, const std::string& value) {
  const Rule* rule = RuleOf(key);
  const bool whole = value.find('\0') == std::string::npos;
  if (rule == nullptr || (whole && rule->allows(value.c_str()))) return std::nullopt;
  return key + ": " + Shown(value) + " is not allowed: " + rule->allowed;
}

std::string NearestTo(std::string_view key) {
  constexpr std::size_t kMuch = 100;  // whoever wrote more has mistyped nothing
  key = key.substr(0, kMuch);
  const auto nearest = std::min_element(
      std::begin(kOfPods), std::end(kOfPods),
      [key](const Rule& a, const Rule& b) { return Distance(key, a.key) < Distance(key, b.key); });
  return nearest->key;
}

}  // namespace crossover::annotations
