// Reads the configuration file of a node and detects changes to it. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/files/file_id.h"
#include "deviceplugin/config/node_yaml.h"

namespace crossover::deviceplugin {

class ConfigFile {
 public:
  struct State {
    bool valid = true;   // the file was valid at the last Read()
    std::string chosen;  // name of the chosen configuration; empty: the one without a name
    std::string fault;   // why the wanted configuration was not chosen; empty: it was
  };

  explicit ConfigFile(std::string path) : path_(std::move(path)) {}

  // Reads and parses the file, and chooses its named configuration `choice` if the file has it. Returns
  // nullopt, with the reason in `error`, if the file cannot be read or is not valid; state() then keeps
  // `chosen` and `fault`. An empty `choice`, or one that the file does not have, leaves the configuration
  // without a name in place; state().fault reports the latter.
  std::optional<NodeConfig> Read(const std::string& choice, std::string* error);
  // Returns whether the file differs from the one that Read() last saw, valid or not. This includes a
  // symbolic link that now points to another file. Returns false while the file does not exist, because a
  // file that is being replaced may be away for a moment.
  bool Changed() const;
  State state() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  files::FileId file_id_;
  State state_;
};

}  // namespace crossover::deviceplugin
