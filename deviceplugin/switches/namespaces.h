// The modes of namespaces, as the API server has them. Thread-safe.
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
  // `on_change` is called after each change of a mode, on the thread of the watch.
  explicit Namespaces(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  void OnDelete(const nlohmann::json& object) override;

  arbiter::Policy ModeOf(const std::string& name) const;
  // What is wrong with the switches of namespaces (FaultsIn), by name; those without faults are left out.
  using Faults = std::map<std::string, std::vector<std::string>>;
  Faults faults() const;

 private:
  using Modes = std::map<std::string, arbiter::Policy>;  // but those that are kEnforce
  struct Known {
    Modes modes;
    Faults faults;
  };

  static void Take(const nlohmann::json& object, Known* known);
  void Replace(Known known);

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  Known known_;  // written by the watch's thread alone
};

}  // namespace crossover::deviceplugin
