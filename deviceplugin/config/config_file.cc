#include "deviceplugin/config/config_file.h"

#include <utility>

#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/text/list.h"

namespace crossover::deviceplugin {

std::optional<NodeConfig> ConfigFile::Read(const std::string& choice, std::string* error) {
  // Takes the stamp before the read, so that a write during the read shows as a change.
  const files::Stamp stamp = files::StampOf(path_);
  auto config = ReadNodeYamlConfig(path_, error);
  const bool found = choice.empty() || !config || config->Choose(choice);
  std::string fault;
  if (!found) {
    std::string names;
    for (const auto& [name, named] : config->named) text::AddTo(&names, name);
    fault = base::Refusal(base::kConfigurationLabel,
                          names.empty() ? "no such label, as " + path_ + " names no configurations"
                                        : "one of " + names + ", as " + path_ + " names them",
                          choice);
  }
  const std::lock_guard lock(mutex_);
  stamp_ = stamp;
  state_.valid = config.has_value();
  if (config) {
    state_.chosen = found ? choice : "";
    state_.fault = std::move(fault);
  }
  return config;
}

bool ConfigFile::Changed() const {
  const files::Stamp stamp = files::StampOf(path_);
  const std::lock_guard lock(mutex_);
  return !(stamp == stamp_) && !(stamp == files::Stamp());  // a file that is being replaced may be away
}

ConfigFile::State ConfigFile::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace crossover::deviceplugin
