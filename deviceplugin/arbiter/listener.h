// A unix socket of the daemon: made, guarded against a second daemon, removed.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct SocketSettings {
  std::string path = "/run/crossover/arbiter.sock";
  mode_t mode = 0666;          // whoever may use the GPU may take turns on it; limits are per user ID
  std::optional<gid_t> group;  // of the socket; unset: the daemon's
};

class Listener {
 public:
  Listener() = default;
  ~Listener() { Close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Makes the socket and, if missing, its directory. A socket that nobody listens on any more is replaced;
  // one that somebody does is an error.
  bool Open(const SocketSettings& settings, std::string* error, int type = SOCK_SEQPACKET);
  int fd() const { return fd_.get(); }
  // Stops listening and removes the socket, unless a later daemon has put its own there.
  void Close();

 private:
  base::UniqueFd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace crossover::arbiter
