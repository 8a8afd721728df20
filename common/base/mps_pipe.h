// Finds out whether a control daemon of MPS listens. The daemon's socket file outlives it, so only a
// connection shows that it listens.
#pragma once

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace crossover::base {

// NVIDIA's programs look for the control daemon in the directory that this variable names, or else in
// kDefaultMpsPipe.
inline constexpr char kMpsPipeVariable[] = "CUDA_MPS_PIPE_DIRECTORY";
inline constexpr char kDefaultMpsPipe[] = "/tmp/nvidia-mps";

// Connects to the control daemon of MPS in `directory`. Returns the connection, which the caller closes, or
// -1 with errno set. Neither blocks nor allocates.
inline int ConnectToMpsPipe(const char* directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = ::snprintf(address.sun_path, sizeof address.sun_path, "%s/control", directory);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

// Returns 0 if a control daemon of MPS listens in `directory`, or else the errno that says why this process
// cannot reach one (see IsNoMps). Connects, sends nothing and hangs up; the control daemon notes that in its
// log. Neither blocks nor allocates.
inline int TryMpsPipe(const char* directory) {
  const int fd = ConnectToMpsPipe(directory);
  if (fd < 0) {
    // With these two errors a process has the socket: its queue is full, or the socket has another type.
    return errno == EAGAIN || errno == EPROTOTYPE ? 0 : errno;
  }
  ::close(fd);
  return 0;
}

// Returns the process that listens in `directory` for clients of MPS. Returns 0 if there is none, or if it is
// in a PID namespace that this process does not see. Connects as TryMpsPipe() does. The caller must not trust
// the process: any user may have made the socket.
inline pid_t OwnerOfMpsPipe(const char* directory) {
  const int fd = ConnectToMpsPipe(directory);
  if (fd < 0) return 0;
  ucred owner{};  // of the process that called listen()
  socklen_t size = sizeof owner;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0;
  ::close(fd);
  return known ? owner.pid : 0;
}

// Returns whether `error`, from TryMpsPipe(), means that there is no control daemon.
constexpr bool IsNoMps(int error) { return error == ENOENT || error == ENOTDIR || error == ECONNREFUSED; }
// Returns whether `error`, from TryMpsPipe(), says nothing of the control daemon, because this process lacks
// descriptors or memory.
constexpr bool IsOwnLack(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}
// Returns whether the control daemon's socket is in `directory`, where it may have been left behind.
inline bool HasMpsSocket(const char* directory) {
  char path[sizeof sockaddr_un::sun_path];
  const int length = ::snprintf(path, sizeof path, "%s/control", directory);
  return length > 0 && static_cast<std::size_t>(length) < sizeof path && ::access(path, F_OK) == 0;
}

}  // namespace crossover::base
