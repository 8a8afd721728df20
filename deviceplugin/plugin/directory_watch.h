// Tells when files come to a directory or leave it, or the directory itself goes. For one thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/fd.h"

namespace crossover::deviceplugin {

class DirectoryWatch {
 public:
  struct Change {
    enum class Kind { kCame, kLeft, kDirectoryGone };
    Kind kind;
    std::string name;  // of the file
  };

  // False where the directory cannot be watched, with the reason in `error`.
  bool Open(const std::string& directory, std::string* error);
  // What has changed since it was last asked. Never waits.
  std::vector<Change> Take();
  int fd() const { return fd_.get(); }

 private:
  base::UniqueFd fd_;
};

}  // namespace crossover::deviceplugin
