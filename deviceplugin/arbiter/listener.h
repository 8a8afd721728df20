// Creates a Unix socket of the daemon, refuses to start if another daemon listens on it, and removes it at
// the end.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct SocketSettings {
  std::string path = "/run/crossover/arbiter.sock";
  mode_t mode = 0666;          // any user of the GPU may take turns; limits are per user ID
  std::optional<gid_t> group;  // group of the socket; unset: the daemon's group
};

class Listener {
 public:
  Listener() = default;
  ~Listener() { Close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Creates the socket and, if missing, its directory. Replaces a socket that no process listens on any more.
  // Fails if another process listens on it. Returns false, with the reason in `error`, if it fails.
  bool Open(const SocketSettings& settings, std::string* error, int type = SOCK_SEQPACKET);
  int fd() const { return fd_.get(); }
  // Stops listening. Removes the socket unless a later daemon has put its own in its place.
  void Close();

 private:
  base::UniqueFd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace crossover::arbiter
