// The configuration's file of a node, as it is and as it changes. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/files/stamp.h"
#include "deviceplugin/config/node_yaml.h"

namespace crossover::deviceplugin {

class ConfigFile {
 public:
  struct State {
    bool valid = true;   // as it was last read
    std::string chosen;  // of its named configurations; empty: none is
    std::string fault;   // of the choice: one that is not there; empty: none
  };

  explicit ConfigFile(std::string path) : path_(std::move(path)) {}

  // `choice`: which of its named configurations is to hold; one that is not there counts as none, and is
  // said.
  std::optional<NodeConfig> Read(const std::string& choice, std::string* error);
  // It is another than was last read, whether that was valid or not: also where it is a link to another.
  bool Changed() const;
  State state() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  files::Stamp stamp_;
  State state_;
};

}  // namespace crossover::deviceplugin
