#include "common/api/node.h"

#include <nlohmann/json.hpp>

#include "common/annotations/domain.h"
#include "common/api/fields.h"
#include "common/base/foreign_keys.h"

namespace crossover::api {
namespace {

using kube::At;
using kube::ListAt;
using nlohmann::json;

// Returns the annotations that a program of ours reads.
Labels AnnotationsOf(const json& metadata) {
  Labels annotations;
  const json& all = At(metadata, "annotations");
  if (!all.is_object()) return annotations;
  for (const auto& [key, value] : all.items()) {
    if (value.is_string() && (annotations::IsOurs(key) || key == base::kScaleDownAnnotation))
      annotations.emplace(key, value.get<std::string>());
  }
  return annotations;
}

}  // namespace

std::optional<Node> ParseNode(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& spec = At(object, "spec");
  const json& status = At(object, "status");
  Node node;
  node.name = TextAt(metadata, "name");
  if (node.name.empty()) return std::nullopt;
  node.uid = TextAt(metadata, "uid");
  node.labels = kube::LabelsAt(metadata, "labels");
  node.annotations = AnnotationsOf(metadata);
  node.cordoned = IsTrue(spec, "unschedulable");
  for (const json& taint : ListAt(spec, "taints")) {
    node.taints.push_back(
        {.key = TextAt(taint, "key"), .value = TextAt(taint, "value"), .effect = TextAt(taint, "effect")});
  }
  node.allocatable = kube::AmountsIn(At(status, "allocatable"));
  node.runtime = TextAt(At(status, "nodeInfo"), "containerRuntimeVersion");
  node.os_image = TextAt(At(status, "nodeInfo"), "osImage");
  for (const json& condition : ListAt(status, "conditions")) {
    if (TextAt(condition, "type") == "Ready") node.ready = TextAt(condition, "status") == "True";
  }
  return node;
}

}  // namespace crossover::api
