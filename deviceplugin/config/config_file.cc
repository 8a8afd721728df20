#include "deviceplugin/config/config_file.h"

#include <utility>

#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/text/list.h"

namespace crossover::deviceplugin {

std::optional<NodeConfig> ConfigFile::Read(const std::string& choice, std::string* error) {
  // Takes the ID before the read, so that a write during the read shows as a change.
  const files::FileId file_id = files::FileIdOf(path_);
  auto config = ReadNodeYamlConfig(path_, error);
  const bool found = choice.empty() || !config || config->Choose(choice);
  std::string fault;
  if (!found) {
    std::string names;
    for (const auto& [name, named] : config->named) text::AddTo(&names, name);
    fault = base::Refusal(base::kConfigurationLabel,
                          names.empty() ? "no such label, because " + path_ + " names no configurations"
                                        : "one of " + names + ", as " + path_ + " names them",
                          choice);
  }
  const std::lock_guard lock(mutex_);
  file_id_ = file_id;
  state_.valid = config.has_value();
  if (config) {
    state_.chosen = found ? choice : "";
    state_.fault = std::move(fault);
  }
  return config;
}

bool ConfigFile::Changed() const {
  const files::FileId file_id = files::FileIdOf(path_);
  const std::lock_guard lock(mutex_);
  const bool is_there = !(file_id == files::FileId());  // a file that is being replaced may be away
  return is_there && !(file_id == file_id_);
}

ConfigFile::State ConfigFile::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace crossover::deviceplugin
