// Accepts connections to the API from root and from the daemon's own user, and refuses all others.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/fd.h"
#include "deviceplugin/arbiter/listener.h"

namespace crossover::deviceplugin {

class UnixAcceptor {
 public:
  using OnConnection = std::function<void(base::UniqueFd socket)>;

  UnixAcceptor() = default;
  ~UnixAcceptor();
  UnixAcceptor(const UnixAcceptor&) = delete;
  UnixAcceptor& operator=(const UnixAcceptor&) = delete;

  // Creates the socket without accepting yet. Returns false with the reason in `error`, on failure.
  bool Open(const std::string& path, std::string* error);
  // Accepts on a thread of its own, which calls `on_connection` with each new non-blocking socket.
  void Accept(OnConnection on_connection);
  // Stops accepting and removes the socket. Connections stay open.
  void Close();
  // Ends all connections. Data that a peer has not read is lost. REQUIRES: Close was called.
  void HangUp();

 private:
  static constexpr std::size_t kMostConnections = 64;

  void Run();
  void Admit();
  bool Welcome(int socket) const;

  arbiter::Listener listener_;
  base::UniqueFd stop_;
  OnConnection on_connection_;
  std::vector<base::UniqueFd> open_;  // a second descriptor of each open connection
  std::thread thread_;
};

// Returns whether `user` may use the API of a daemon that runs as `own`.
constexpr bool MayEnter(uid_t user, uid_t own) { return user == 0 || user == own; }

}  // namespace crossover::deviceplugin
