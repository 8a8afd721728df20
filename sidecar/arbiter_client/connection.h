// Implements the client's end of the arbiter's socket.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/fd.h"
#include "proto/arbiter_protocol.h"
#include "proto/turnstile.h"
#include "sidecar/arbiter_client/arbiter_messages.h"
#include "sidecar/arbiter_client/own_fd.h"
#include "turn/ops.h"

namespace crossover::arbiter_client {

// A Membership is what the arbiter gave this client when it let it in. Once the client is attached, the page
// stays mapped for the life of the process: streams may still write to it.
struct Membership {
  crossover_page* page = nullptr;
  turn::SlotIndex slot = 0;
  std::uint32_t memory_mib = 0;  // memory limit of this process on each GPU; 0: the arbiter knows none
};

// A Received is one message from the socket, or the error in its place.
struct Received {
  MessageKind kind = MessageKind::kBroken;
  int error = 0;  // errno, if nothing came
  OwnFd fd;       // the descriptor that came along; none if there were several
  Message message{};
};

// A Connection is one connection to the arbiter. It owns the socket. Not thread-safe.
class Connection {
 public:
  Connection() = default;
  explicit Connection(base::UniqueFd fd) : fd_(fd.Release()) {}

  // Connects to the arbiter's socket at `path`. Returns false if no arbiter can be reached.
  bool Connect(const char* path);

  // Sends `hello` and waits for the answer, at most two seconds. Returns true and fills in `membership` if
  // the arbiter lets this client in. Otherwise returns false and writes the reason, one line of text, to
  // `reason`. The page is then not mapped.
  bool Join(const crossover_hello& hello, Membership* membership, char* reason, std::size_t reason_bytes);

  // Waits at most `timeout_us` microseconds for a message or the end of the connection. Writes a notice to
  // the log. Moves what came to `received`; the caller acts on kOffer and kProven alone, and nothing else
  // needs an answer. Returns true if the connection has ended or is of no more use, also because the program
  // has closed or taken our descriptor.
  bool AwaitEnd(int timeout_us, Received* received);

  // Sends a message without waiting. Drops it if it does not fit into the socket now.
  void Send(const crossover_header* message);

  void Close() { fd_.Reset(); }
  const OwnFd& fd() const { return fd_; }

 private:
  OwnFd fd_;
};

// A Limit is the arbiter's answer to the question for this process's memory limit.
struct Limit {
  bool known = false;
  std::uint64_t bytes = 0;  // limit on each GPU; if `known`, 0 means that the process has no limit
};

// Asks the arbiter at `path` how much memory of each GPU this process may have. The result is not `known` if
// the arbiter cannot be reached, does not know this process yet, or does not answer within `timeout_ns`.
// Blocks for at most that long.
Limit AskForLimit(const char* path, std::int64_t timeout_ns);

}  // namespace crossover::arbiter_client
