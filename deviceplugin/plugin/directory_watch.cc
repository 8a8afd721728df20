#include "deviceplugin/plugin/directory_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace crossover::deviceplugin {

bool DirectoryWatch::Open(const std::string& directory, std::string* error) {
  fd_.Reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t kEvents =
      IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  if (fd_ && inotify_add_watch(fd_.get(), directory.c_str(), kEvents) >= 0) return true;
  *error = directory + ": the daemon cannot watch it: " + std::strerror(errno);
  fd_.Reset();
  directory_ = directory;
  files_ = FilesIn(directory);
  return files_.has_value();
}

std::vector<DirectoryWatch::Change> DirectoryWatch::Take() {
  if (!fd_) return Look();
  std::vector<Change> changes;
  alignas(inotify_event) std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t size = read(fd_.get(), buffer.data(), buffer.size());
    if (size <= 0) return changes;
    for (ssize_t at = 0; at < size;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changes.push_back({Change::Kind::kLost, ""});
      } else if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
        changes.push_back({Change::Kind::kDirectoryGone, ""});
      } else if (event.len > 0) {
        const bool came = (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0;
        changes.push_back({came ? Change::Kind::kCame : Change::Kind::kLeft, name});
      }
    }
  }
}

std::vector<DirectoryWatch::Change> DirectoryWatch::Look() {
  if (!files_) return {};
  std::optional<Files> now = FilesIn(directory_);
  if (!now) return {{Change::Kind::kDirectoryGone, ""}};
  std::vector<Change> changes;
  for (const File& file : *files_) {
    if (!now->contains(file)) changes.push_back({Change::Kind::kLeft, file.name});
  }
  for (const File& file : *now) {
    if (!files_->contains(file)) changes.push_back({Change::Kind::kCame, file.name});
  }
  files_ = std::move(now);
  return changes;
}

std::optional<DirectoryWatch::Files> DirectoryWatch::FilesIn(const std::string& directory) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  if (error) return std::nullopt;
  Files files;
  for (; entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) != 0) continue;  // the file was removed meanwhile
    files.insert(File{entry->path().filename().string(), status.st_dev, status.st_ino,
                      status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec});
  }
  if (error) return std::nullopt;
  return files;
}

}  // namespace crossover::deviceplugin
