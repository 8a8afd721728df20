#include "deviceplugin/switches/own_node.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/foreign_keys.h"
#include "common/base/names.h"

namespace crossover::deviceplugin {
namespace {

std::optional<std::string> Find(const api::Labels& labels, const char* key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void OwnNode::OnList(const nlohmann::json& items) {
  for (const nlohmann::json& item : items) OnChange(item);
}

void OwnNode::OnChange(const nlohmann::json& object) {
  auto node = api::ParseNode(object);
  if (!node) return;
  const NodeSpec spec{.mode = ModeIn(node->annotations),
                      .maintenance = Find(node->annotations, base::kMaintenanceAnnotation) == "true",
                      .configuration = Find(node->labels, base::kConfigurationLabel).value_or("")};
  {
    const std::lock_guard lock(mutex_);
    node_ = *std::move(node);
    if (spec == spec_) return;
    spec_ = spec;
  }
  on_change_();
}

OwnNode::NodeSpec OwnNode::spec() const {
  const std::lock_guard lock(mutex_);
  return spec_;
}

std::map<std::string, std::int64_t> OwnNode::allocatable() const {
  const std::lock_guard lock(mutex_);
  return node_.allocatable.others;
}

std::vector<std::string> OwnNode::faults() const {
  const std::lock_guard lock(mutex_);
  return FaultsIn(node_.annotations, node_.labels);
}

std::string OwnNode::runtime() const {
  const std::lock_guard lock(mutex_);
  return node_.runtime;
}

std::string OwnNode::os_image() const {
  const std::lock_guard lock(mutex_);
  return node_.os_image;
}

std::map<std::string, std::string> OwnNode::labels() const {
  const std::lock_guard lock(mutex_);
  return node_.labels;
}

std::optional<std::string> OwnNode::scale_down() const {
  const std::lock_guard lock(mutex_);
  return Find(node_.annotations, base::kScaleDownAnnotation);
}

std::string OwnNode::uid() const {
  const std::lock_guard lock(mutex_);
  return node_.uid;
}

}  // namespace crossover::deviceplugin
