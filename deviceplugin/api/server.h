// Serves the daemon's API (proto/crossover_node.proto) on a unix socket of its own.
//
// The socket has mode 0600, so only its owner and root can connect. Before the first byte is read, the user
// of each connection is checked again with the kernel. Only ModeSwitch reaches the arbiter's thread from
// here, and no watcher delays another watcher or the books.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "deviceplugin/books/books.h"
#include "deviceplugin/mode_switch.h"
#include "deviceplugin/mps/news.h"
#include "deviceplugin/profiles/store.h"

namespace crossover::deviceplugin {

class ApiServer {
 public:
  struct Backend {  // REQUIRES: all pointers outlive the server
    Books* books = nullptr;
    ModeSwitch* modes = nullptr;
    const ProfileStore* profiles = nullptr;  // null: profiles are off
    std::string version;
    std::string arbiter_socket;
    std::string mps_pipe_directory{};  // empty: it is what the jobs say
    // Returns what is known of MPS. Null: nothing is. Called by the threads that serve.
    std::function<MpsNews()> mps{};
  };

  // Starts to serve. Returns null on failure, with the reason in `error`.
  static std::unique_ptr<ApiServer> Start(const std::string& socket_path, Backend backend,
                                          std::string* error);
  // Waits for running calls to end, for a second at most, and removes the socket.
  ~ApiServer();

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace crossover::deviceplugin
