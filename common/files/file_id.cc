#include "common/files/file_id.h"

#include <sys/stat.h>

#include "common/base/clock.h"

namespace crossover::files {

FileId FileIdOf(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .size = static_cast<std::uint64_t>(file.st_size),
          .changed_ns = std::int64_t{file.st_mtim.tv_sec} * base::kNsPerSecond + file.st_mtim.tv_nsec};
}

}  // namespace crossover::files
