// Checks what autoscalers that are in the cluster think of our nodes and pods. docs/operations.md,
// "Autoscalers", has their rules and where they stand.
#include <set>
#include <string>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/base/foreign_keys.h"
#include "common/base/names.h"
#include "common/base/refusal.h"

namespace crossover::cli {
namespace {

// Cluster Autoscaler counts a node with such a label as not ready while it has no nvidia.com/gpu to give.
// Each cloud has a label of its own.
constexpr const char* kGpuLabels[] = {"cloud.google.com/gke-accelerator", "k8s.amazonaws.com/accelerator",
                                      "kubernetes.azure.com/accelerator", "accelerator"};

bool HasClusterAutoscaler(const ClusterFacts& facts) { return !facts.Items("autoscaler_status").empty(); }

// Adds a place if the pod's annotation has another value.
void Expect(const json& pod, const char* key, const char* value, Places* places) {
  const std::string got = AnnotationOf(pod, key);
  if (got != value) places->push_back(FullName(pod) + ": " + base::Refusal(key, value, base::Shown(got)));
}

}  // namespace

Places PodsThatAutoscalersMove(const ClusterFacts& facts) {
  std::set<std::string> kept;  // nodes that Cluster Autoscaler does not remove
  for (const json& node : facts.Items("nodes")) {
    if (AnnotationOf(node, base::kScaleDownAnnotation) == "true") kept.insert(NameOf(node));
  }
  Places places;
  for (const json& pod : facts.Items("pods")) {
    if (NodeOf(pod).empty() || IsOver(pod)) continue;
    if (HasClusterAutoscaler(facts) && !kept.contains(NodeOf(pod)))
      Expect(pod, base::kSafeToEvictAnnotation, "false", &places);
    if (!facts.Items("node_pools").empty()) Expect(pod, base::kDoNotDisruptAnnotation, "true", &places);
  }
  return places;
}

Places NodesThatCountAsUnready(const ClusterFacts& facts) {
  Places places;
  if (!HasClusterAutoscaler(facts)) return places;
  for (const json& node : facts.Items("nodes")) {
    if (CountAt(node, {"status", "allocatable"}, base::kSlotResource) == 0 ||
        CountAt(node, {"status", "allocatable"}, "nvidia.com/gpu") > 0)
      continue;
    for (const char* label : kGpuLabels) {
      if (!LabelOf(node, label).empty())
        places.push_back("node " + NameOf(node) + ": label " + label + ": expected none, got " +
                         LabelOf(node, label));
    }
  }
  return places;
}

}  // namespace crossover::cli
