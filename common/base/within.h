// Puts into words that crossover.dev/within names a label which is no topology label of the cluster. The
// webhook refuses a pod with this fault, and the planner one that the webhook has not seen.
#pragma once

#include <span>
#include <string>

#include "common/base/names.h"
#include "common/base/refusal.h"

namespace crossover::base {

// Returns the refusal of the label `got`. `labels` are those that gangs.topology of the extender names.
inline std::string WithinRefusal(std::span<const std::string> labels, const std::string& got) {
  std::string list;
  for (const std::string& label : labels) list += (list.empty() ? "" : ", ") + label;
  return Refusal(kWithinAnnotation,
                 labels.empty() ? "no such annotation, because gangs.topology of the extender names no label"
                                : "a label that gangs.topology of the extender names (" + list + ")",
                 Shown(got));
}

}  // namespace crossover::base
