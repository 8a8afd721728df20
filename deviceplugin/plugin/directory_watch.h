// Reports when files appear in a directory or disappear from it, and when the directory itself disappears.
// If the kernel has no inotify watch left, it compares directory listings at each call of Take(). For one
// thread only.
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
    // kLost: the kernel has dropped changes. Each file may have come or left, and the directory may be gone.
    enum class Kind { kCame, kLeft, kDirectoryGone, kLost };
    Kind kind;
    std::string name;  // name of the file, with kCame and kLeft
  };

  // Starts to watch `directory`. Returns false if the directory cannot be read. Sets `error` if it returns
  // false, and also if it returns true but inotify is not available.
  bool Open(const std::string& directory, std::string* error);
  // Returns what has changed since the last call. Never blocks.
  std::vector<Change> Take();
  // Returns a descriptor that is readable once something has changed. Returns -1 if inotify is not
  // available.
  int fd() const { return fd_.get(); }

 private:
  // A file that replaces another may get the same inode, but not the same modification time.
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
  // Without inotify, this holds the files as of the last look.
  std::optional<Files> files_;
};

}  // namespace crossover::deviceplugin
