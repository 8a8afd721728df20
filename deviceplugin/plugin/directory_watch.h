// Tells when files come to a directory or leave it, or the directory itself goes. Where the kernel has no
// watch left for it, it looks for itself whenever it is asked. For one thread.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
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

  // False where the directory cannot be read. `error`: why that is so, or why it has to look for itself.
  bool Open(const std::string& directory, std::string* error);
  // What has changed since it was last asked. Never waits.
  std::vector<Change> Take();
  // Readable once something has changed; -1 where it looks for itself.
  int fd() const { return fd_.get(); }

 private:
  // One that takes another's place may get its inode, yet not its time.
  struct File {
    std::string name;
    dev_t device;
    ino_t inode;
    std::int64_t modified_ns;
    auto operator<=>(const File&) const = default;
  };
  using Files = std::set<File>;

  static std::optional<Files> FilesIn(const std::string& directory);
  std::vector<Change> Look();

  base::UniqueFd fd_;
  std::string directory_;
  std::optional<Files> files_;  // where it looks for itself: those that it saw last
};

}  // namespace crossover::deviceplugin
