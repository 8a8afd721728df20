#include "deviceplugin/plugin/directory_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace crossover::deviceplugin {

bool DirectoryWatch::Open(const std::string& directory, std::string* error) {
  fd_.Reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t kEvents =
      IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  if (fd_ && inotify_add_watch(fd_.get(), directory.c_str(), kEvents) >= 0) return true;
  *error = "watching " + directory + ": " + std::strerror(errno);
  fd_.Reset();
  return false;
}

std::vector<DirectoryWatch::Change> DirectoryWatch::Take() {
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
      if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
        changes.push_back({Change::Kind::kDirectoryGone, ""});
      } else if (event.len > 0) {
        const bool came = (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0;
        changes.push_back({came ? Change::Kind::kCame : Change::Kind::kLeft, name});
      }
    }
  }
}

}  // namespace crossover::deviceplugin
