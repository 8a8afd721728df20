// Keeps the modes of namespaces as the API server has them. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/kube/list_watch.h"
#include "deviceplugin/switches/modes.h"

namespace crossover::deviceplugin {

class Namespaces : public kube::ListWatch::Handler {
 public:
  // Calls `on_change` after each change of a mode, on the thread of the watch.
  explicit Namespaces(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  void OnDelete(const nlohmann::json& object) override;

  // Returns the mode of the namespace, or kEnforce if it has none.
  arbiter::Policy ModeOf(const std::string& name) const;
  // Returns the errors in the switches of namespaces (FaultsIn), by name of the namespace. Namespaces
  // without errors are not in the map.
  using Faults = std::map<std::string, std::vector<std::string>>;
  Faults faults() const;

 private:
  using Modes = std::map<std::string, arbiter::Policy>;  // without namespaces in kEnforce
  struct Known {
    Modes modes;
    Faults faults;
  };

  static void Take(const nlohmann::json& object, Known* known);
  void Replace(Known known);

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  Known known_;  // only the watch's thread writes it
};

}  // namespace crossover::deviceplugin
