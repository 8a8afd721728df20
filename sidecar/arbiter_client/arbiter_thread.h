// Runs the arbiter thread. The thread connects to the arbiter, joins the turns, and watches the connection.
// When it loses the arbiter, it lets the job run on without turns and tries again.
//
//     connect ---> join ---> serve (OnTick, Profile, watch) ---> let go of the page
//        ^          |                                                   |
//        |          | refused                                           | arbiter lost
//        +----------+------------------ 500 ms <------------------------+
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "sidecar/arbiter_client/abandoned_pages.h"
#include "sidecar/arbiter_client/client.h"
#include "sidecar/arbiter_client/connection.h"
#include "sidecar/arbiter_client/liveness.h"
#include "sidecar/arbiter_client/own_fd.h"

namespace crossover::arbiter_client {

// An ArbiterThread keeps one client connected to the arbiter, for the life of the process.
class ArbiterThread {
 public:
  constexpr ArbiterThread() = default;

  // Starts the thread at the first call; later calls do nothing. The thread fills in the header and the
  // transport of `hello`. REQUIRES: `client` and `path`, the path of the arbiter's socket, live as long as
  // the process.
  void Start(Client* client, const char* path, const crossover_hello& hello);

  // Closes the socket in a forked child, which has our descriptors but not our thread.
  void CloseInChild() { socket_.CloseInChild(); }

 private:
  static void* Run(void* self);
  void Loop();
  bool Join(Connection* connection, Membership* membership);
  bool Enter(const Membership& membership);
  void Serve(Connection* connection, const Membership& membership);
  bool Listen(Connection* connection);
  void Complain(const char* why);

  Client* client_ = nullptr;
  const char* path_ = nullptr;
  crossover_hello hello_{};
  Liveness liveness_;
  std::atomic<bool> started_{false};
  SharedFd socket_;
  AbandonedPages abandoned_pages_;
  bool complained_ = false;
  bool given_up_ = false;  // the client cannot take part: a new try would fail again and disturb the others
};

}  // namespace crossover::arbiter_client
