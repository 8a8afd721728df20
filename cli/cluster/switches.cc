// Checks what people switched off, and which pods wait long.
#include <cmath>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/annotations/rules.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

constexpr double kLongWaitS = 600;

void AddFaults(const json& items, const char* kind, std::initializer_list<const char*> keys, Places* places) {
  for (const json& item : items) {
    for (const char* key : keys) {
      const std::string value = AnnotationOf(item, key);
      const auto fault = value.empty() ? std::nullopt : annotations::FaultOf(key, value);
      if (fault) places->push_back(std::string(kind) + " " + NameOf(item) + ": " + *fault);
      if (!LabelOf(item, key).empty())
        places->push_back(std::string(kind) + " " + NameOf(item) + ": " + key +
                          ": expected an annotation, got a label");
    }
  }
}

}  // namespace

Places SwitchedOff(const ClusterFacts& facts) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    const std::string& by = node.mode_limited_by;
    if (!node.mode.empty() && node.mode != "enforce")
      places.push_back("node " + node.name + ": mode: expected enforce, got " + node.mode +
                       (by.empty() ? "" : ": " + by));
  }
  return places;
}

Places InMaintenance(const ClusterFacts& facts) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (node.maintenance)
      places.push_back("node " + node.name + ": expected no maintenance, got the annotation " +
                       base::kMaintenanceAnnotation);
  }
  return places;
}

Places MistypedSwitches(const ClusterFacts& facts) {
  Places places;
  AddFaults(facts.Items("nodes"), "node", {base::kModeAnnotation, base::kMaintenanceAnnotation}, &places);
  AddFaults(facts.Items("namespaces"), "namespace", {base::kModeAnnotation}, &places);
  return places;
}

Places LongWaits(const ClusterFacts& facts) {
  Places places;
  for (const json& pod : facts.Items("pods")) {
    const auto since = kube::ParseTimestamp(TextAt(pod, {"metadata", "creationTimestamp"}));
    if (!NodeOf(pod).empty() || IsOver(pod) || !since || facts.now_s - *since < kLongWaitS) continue;
    const auto minutes = static_cast<std::int64_t>(std::floor((facts.now_s - *since) / 60));
    places.push_back("pod " + FullName(pod) + ": expected a node within 10 min, got none in " +
                     std::to_string(minutes) + " min");
  }
  return places;
}

}  // namespace crossover::cli
