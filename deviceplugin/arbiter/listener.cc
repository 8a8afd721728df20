#include "deviceplugin/arbiter/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/base/refusal.h"

namespace crossover::arbiter {
namespace {

constexpr int kBacklog = 128;

std::string Failure(std::string_view what, const std::string& path) {
  return "the daemon " + std::string(what) + " " + path + ": " + std::strerror(errno);
}

// Creates the directory `path` and its missing parents. Returns whether they exist now.
bool MakeDirectories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (!part.empty() && mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return false;
    if (end == std::string::npos) return true;
  }
}

// Returns whether a daemon listens at `address`. Removes a socket file that no process listens on.
bool Taken(const sockaddr_un& address, int type) {
  const base::UniqueFd probe(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(probe.get(), generic, sizeof(address)) == 0 || errno == EAGAIN || errno == EPROTOTYPE)
    return true;
  struct stat status {};
  if (errno == ECONNREFUSED && lstat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode)) {
    unlink(address.sun_path);
  }
  return false;
}

}  // namespace

bool Listener::Open(const SocketSettings& settings, std::string* error, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (settings.path.empty() || settings.path.size() >= sizeof(address.sun_path)) {
    *error =
        base::Refusal("socket path " + settings.path, "1 to 107 bytes", std::to_string(settings.path.size()));
    return false;
  }
  settings.path.copy(address.sun_path, sizeof(address.sun_path) - 1);

  const std::string directory = settings.path.substr(0, settings.path.rfind('/'));
  if (directory != settings.path && !MakeDirectories(directory)) {
    *error = Failure("cannot make", directory);
    return false;
  }
  if (Taken(address, type)) {
    *error = "socket " + settings.path + ": expected no other daemon that listens on it, got one";
    return false;
  }
  fd_.Reset(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // No other user may connect before mode and group are set.
  const mode_t old_mask = umask(0177);
  const bool bound =
      fd_ && bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int bind_errno = errno;
  umask(old_mask);
  errno = bind_errno;
  if (!bound) {
    *error = Failure("cannot make the socket", settings.path);
    return false;
  }
  path_ = settings.path;
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  if (settings.group && chown(path_.c_str(), static_cast<uid_t>(-1), *settings.group) != 0) {
    *error = Failure("cannot set the group of", path_);
    return false;
  }
  if (chmod(path_.c_str(), settings.mode) != 0 || listen(fd_.get(), kBacklog) != 0) {
    *error = Failure("cannot listen on", path_);
    return false;
  }
  return true;
}

void Listener::Close() {
  struct stat status {};
  if (!path_.empty() && stat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    unlink(path_.c_str());
  }
  path_.clear();
  fd_.Reset();
}

}  // namespace crossover::arbiter
