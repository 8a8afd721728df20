// The client's end of the arbiter's socket.
#pragma once

#include <cstddef>

#include "common/base/fd.h"
#include "proto/arbiter_protocol.h"
#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::link {

// What the arbiter gave us. The page stays mapped for the life of the process: streams may still write to it.
struct Membership {
  crossover_page* page = nullptr;
  turn::SlotIndex slot = 0;
};

class Connection {
 public:
  Connection() = default;
  explicit Connection(base::UniqueFd fd) : fd_(static_cast<base::UniqueFd&&>(fd)) {}

  // Connects to the arbiter at `path`. False where there is none.
  bool Connect(const char* path);

  // Says hello and waits, at most two seconds, for the answer. False where we are not let in: `reason` then
  // holds why, as a line of text.
  bool Join(const crossover_hello& hello, Membership* membership, char* reason, std::size_t reason_bytes);

  // Waits at most `timeout_us` for the end of the connection; writes notices into the log, and skips whatever
  // else arrives. True: it ended.
  bool AwaitEnd(int timeout_us);

  // Best effort: a profile that does not fit into the socket now is dropped.
  void Send(const crossover_profile& profile);

  void Close() { fd_.Reset(); }
  int fd() const { return fd_.get(); }

 private:
  base::UniqueFd fd_;
};

// Fills the header of a message of `bytes`.
crossover_header MakeHeader(crossover_message type, std::size_t bytes);

}  // namespace crossover::link
