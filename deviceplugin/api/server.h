// The daemon's API (proto/crossover_node.proto) on a unix socket of its own.
//
// The socket is made with mode 0600, so that only its owner and root can connect, and each connection's user
// is asked of the kernel once more before the first byte is read. Nothing here reaches the arbiter's thread
// but ModeSwitch, and no watcher delays another or the books.
#pragma once

#include <memory>
#include <string>

#include "deviceplugin/books/books.h"
#include "deviceplugin/mode_switch.h"
#include "deviceplugin/profiles/store.h"

namespace crossover::deviceplugin {

class ApiServer {
 public:
  struct Backend {  // all outlive the server
    Books* books = nullptr;
    ModeSwitch* modes = nullptr;
    const ProfileStore* profiles = nullptr;  // may be null: they are off
    std::string version;
    std::string arbiter_socket;
    std::string mps_pipe_directory{};  // empty: it is whatever the jobs say
  };

  // Serves from here on. Null on failure, with the reason in `error`.
  static std::unique_ptr<ApiServer> Start(const std::string& socket_path, Backend backend,
                                          std::string* error);
  // Lets calls that run come to their end, for a second at most, and removes the socket.
  ~ApiServer();

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace crossover::deviceplugin
