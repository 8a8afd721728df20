// The modes of namespaces, as the API server has them. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

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

 private:
  using Modes = std::map<std::string, arbiter::Policy>;  // but those that are kEnforce

  void Take(const nlohmann::json& object, Modes* modes);
  void Replace(Modes modes);

  const std::function<void()> on_change_;
  std::map<std::string, std::string> faults_;  // as they were said; of the watch's thread alone
  mutable std::mutex mutex_;
  Modes modes_;
};

}  // namespace crossover::deviceplugin
