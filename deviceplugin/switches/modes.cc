#include "deviceplugin/switches/modes.h"

#include "common/annotations/rules.h"
#include "common/base/names.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {

arbiter::Policy ModeIn(const Annotations& annotations) {
  const auto mode = annotations.find(base::kModeAnnotation);
  if (mode == annotations.end()) return arbiter::Policy::kEnforce;
  return ParsePolicy(mode->second).value_or(arbiter::Policy::kEnforce);
}

std::vector<std::string> FaultsIn(const Annotations& annotations, const Annotations& labels) {
  std::vector<std::string> faults;
  for (const char* key : {base::kModeAnnotation, base::kMaintenanceAnnotation}) {
    const auto found = annotations.find(key);
    if (found == annotations.end()) continue;
    if (auto fault = annotations::FaultOf(found->first, found->second)) faults.push_back(*std::move(fault));
  }
  for (const char* key : {base::kModeAnnotation, base::kMaintenanceAnnotation}) {
    if (const auto label = labels.find(key); label != labels.end())
      faults.push_back(annotations::FaultOfLabel(label->first, label->second));
  }
  return faults;
}

}  // namespace crossover::deviceplugin
