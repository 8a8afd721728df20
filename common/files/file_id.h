// Detects that a file has changed, without reading it.
#pragma once

#include <cstdint>
#include <string>

namespace crossover::files {

// A FileId identifies one version of a file.
struct FileId {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t changed_ns = 0;  // when it was last written, in nanoseconds since 1970
  friend bool operator==(const FileId&, const FileId&) = default;
};

// Returns the ID of the file that `path` leads to now. Returns an empty FileId if there is no such
// file.
FileId FileIdOf(const std::string& path);

}  // namespace crossover::files
