// What the API server's object of this node says to the daemon. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/kube/list_watch.h"
#include "deviceplugin/switches/modes.h"

namespace crossover::deviceplugin {

class OwnNode : public kube::ListWatch::Handler {
 public:
  struct Wishes {
    arbiter::Policy mode = arbiter::Policy::kEnforce;
    bool maintenance = false;
    std::string configuration;  // the name of one of the configuration's; empty: none

    friend bool operator==(const Wishes&, const Wishes&) = default;
  };

  // `on_change` is called after each change of the wishes, on the thread of the watch.
  explicit OwnNode(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  // A node that is deleted while it lives comes back: nothing changes.
  void OnDelete(const nlohmann::json&) override {}

  Wishes wishes() const;
  std::string uid() const;                  // empty: not known yet
  std::vector<std::string> faults() const;  // of its switches (FaultsIn)
  std::string runtime() const;              // of containers, as its kubelet says; empty: not known yet
  // How much there is of each resource, as text.
  std::map<std::string, std::string> allocatable() const;

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  Wishes wishes_;
  std::string uid_;
  std::string runtime_;
  std::vector<std::string> faults_;
  std::map<std::string, std::string> allocatable_;
};

}  // namespace crossover::deviceplugin
