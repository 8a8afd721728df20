// Serves the daemon's API (proto/crossover_node.proto) on a Unix socket of its own.
//
// The socket has mode 0600, so only its owner and root can connect. Before it reads the first byte of a
// connection, the server also asks the kernel for the connection's user. Only ModeSwitch reaches the
// arbiter's thread from here. No watcher delays another watcher or StatsStore.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "deviceplugin/mps/news.h"
#include "deviceplugin/profiles/store.h"
#include "deviceplugin/signals/figures.h"
#include "deviceplugin/stats/stats_store.h"
#include "deviceplugin/switches/mode_switch.h"

namespace crossover::deviceplugin {

class ApiServer {
 public:
  struct Backend {  // REQUIRES: all pointers outlive the server
    StatsStore* stats_store = nullptr;
    ModeSwitch* modes = nullptr;
    const ProfileStore* profiles = nullptr;  // null: profiles are off
    std::string version;
    std::string arbiter_socket;
    std::string mps_pipe_directory{};  // where MPS listens; empty: the daemon does not set it for jobs
    // Returns the state of MPS. The threads that serve call it. Null: it is not known.
    std::function<MpsNews()> mps{};
    // Returns the figures of signals. The threads that serve call it. Null: there are none.
    std::function<signals::ByGpu()> signals{};
  };

  // Starts to serve. Returns null on failure, with the reason in `error`.
  static std::unique_ptr<ApiServer> Start(const std::string& socket_path, Backend backend,
                                          std::string* error);
  // Removes the socket, and waits for a second at most until running calls end. Then ends their connections.
  ~ApiServer();

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace crossover::deviceplugin
