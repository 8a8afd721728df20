// Reads the settings for the daemon from its own Node object of the API server. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/api/node.h"
#include "common/kube/list_watch.h"
#include "deviceplugin/switches/modes.h"

namespace crossover::deviceplugin {

class OwnNode : public kube::ListWatch::Handler {
 public:
  struct NodeSpec {
    arbiter::Policy mode = arbiter::Policy::kEnforce;
    bool maintenance = false;
    std::string configuration;  // name of a named configuration; empty: none

    friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
  };

  // Calls `on_change` after each change of the spec, on the thread of the watch.
  explicit OwnNode(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  // Does nothing: a Node object that is deleted while its node runs comes back.
  void OnDelete(const nlohmann::json&) override {}

  NodeSpec spec() const;
  std::string uid() const;                  // empty: not known yet
  std::vector<std::string> faults() const;  // errors in its switches (FaultsIn)
  // Returns the container runtime and its version, as the kubelet reports it, or an empty string if it is not
  // known yet.
  std::string runtime() const;
  // Returns what the kubelet says of the node's system, such as "Ubuntu 24.04.1 LTS", or an empty string.
  std::string os_image() const;
  // Returns all labels of the node.
  std::map<std::string, std::string> labels() const;
  // Returns the value of Cluster Autoscaler's annotation scale-down-disabled, if the node has it.
  std::optional<std::string> scale_down() const;
  // Returns the allocatable amount of each resource but CPU and memory, if it is above 0.
  std::map<std::string, std::int64_t> allocatable() const;

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  NodeSpec spec_;
  api::Node node_;
};

}  // namespace crossover::deviceplugin
