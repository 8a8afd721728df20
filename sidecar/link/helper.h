// The helper thread: finds the arbiter, joins, watches over the connection, and fails open when it is lost.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "sidecar/link/client.h"
#include "sidecar/link/connection.h"
#include "sidecar/link/leftovers.h"
#include "sidecar/link/liveness.h"

namespace crossover::link {

class Helper {
 public:
  constexpr Helper() = default;

  // Starts the thread, once; later calls do nothing. `hello` without header and transport, `path` of the
  // arbiter's socket and `client` must live as long as the process.
  void Start(Client* client, const char* path, const crossover_hello& hello);

  // For a forked child, which has our descriptors but not our thread.
  void CloseInChild();

 private:
  static void* Run(void* self);
  void Loop();
  bool Join(Connection* connection, Membership* membership);
  bool Enter(const Membership& membership);
  void Serve(Connection* connection, const Membership& membership);
  void Complain(const char* why);

  Client* client_ = nullptr;
  const char* path_ = nullptr;
  crossover_hello hello_{};
  Liveness liveness_;
  std::atomic<bool> started_{false};
  std::atomic<int> socket_{-1};
  Leftovers leftovers_;
  bool complained_ = false;
  bool given_up_ = false;  // what failed will fail again: asking on would only unsettle the neighbours
};

}  // namespace crossover::link
