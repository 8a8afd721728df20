#include "deviceplugin/switches/own_node.h"

#include "common/base/foreign_keys.h"
#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::deviceplugin {

void OwnNode::OnList(const nlohmann::json& items) {
  for (const nlohmann::json& item : items) OnChange(item);
}

void OwnNode::OnChange(const nlohmann::json& object) {
  const Annotations annotations = OursOf(object, "annotations");
  const Annotations labels = OursOf(object, "labels");
  NodeSpec spec;
  spec.mode = ModeIn(annotations);
  if (const auto found = annotations.find(base::kMaintenanceAnnotation); found != annotations.end())
    spec.maintenance = found->second == "true";
  if (const auto found = labels.find(base::kConfigurationLabel); found != labels.end())
    spec.configuration = found->second;
  std::map<std::string, std::string> allocatable;
  const nlohmann::json& status = kube::At(object, "status");
  const nlohmann::json& amounts = kube::At(status, "allocatable");
  if (amounts.is_object()) {
    for (const auto& [resource, amount] : amounts.items()) allocatable.emplace(resource, kube::Text(amount));
  }
  {
    const std::lock_guard lock(mutex_);
    uid_ = kube::Text(kube::At(kube::At(object, "metadata"), "uid"));
    runtime_ = kube::Text(kube::At(kube::At(status, "nodeInfo"), "containerRuntimeVersion"));
    os_image_ = kube::Text(kube::At(kube::At(status, "nodeInfo"), "osImage"));
    labels_ = kube::LabelsAt(kube::At(object, "metadata"), "labels");
    const auto given = kube::LabelsAt(kube::At(object, "metadata"), "annotations");
    const auto scale_down = given.find(base::kScaleDownAnnotation);
    scale_down_ = scale_down == given.end() ? std::nullopt : std::optional(scale_down->second);
    allocatable_ = std::move(allocatable);
    faults_ = FaultsIn(annotations, labels);
    if (spec == spec_) return;
    spec_ = std::move(spec);
  }
  on_change_();
}

OwnNode::NodeSpec OwnNode::spec() const {
  const std::lock_guard lock(mutex_);
  return spec_;
}

std::map<std::string, std::string> OwnNode::allocatable() const {
  const std::lock_guard lock(mutex_);
  return allocatable_;
}

std::vector<std::string> OwnNode::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::string OwnNode::runtime() const {
  const std::lock_guard lock(mutex_);
  return runtime_;
}

std::string OwnNode::os_image() const {
  const std::lock_guard lock(mutex_);
  return os_image_;
}

std::map<std::string, std::string> OwnNode::labels() const {
  const std::lock_guard lock(mutex_);
  return labels_;
}

std::optional<std::string> OwnNode::scale_down() const {
  const std::lock_guard lock(mutex_);
  return scale_down_;
}

std::string OwnNode::uid() const {
  const std::lock_guard lock(mutex_);
  return uid_;
}

}  // namespace crossover::deviceplugin
