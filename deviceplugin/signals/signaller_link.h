// The arbiter's end of a signaller's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/base/fd.h"
#include "deviceplugin/signals/signal_messages.h"

namespace crossover::signals {

// A SignallerLink is not thread-safe, and never blocks.
class SignallerLink {
 public:
  SignallerLink(base::UniqueFd socket, std::int64_t pid) : socket_(std::move(socket)), pid_(pid) {}

  struct Received {
    SignallerMessage message;
    std::vector<base::UniqueFd> descriptors;
  };
  // Returns the next message, or nothing if there is none now. ended() says whether the signaller has gone.
  std::optional<Received> Receive();
  bool ended() const { return ended_; }

  // These functions return false if the signaller does not take the message. `kept` is -1 if no memory is
  // kept.
  bool SendFollow(int page, int kept, std::uint32_t area);
  bool SendProve(const crossover_proof& proof);
  bool SendRest(bool rest);

  int fd() const { return socket_.get(); }
  std::int64_t pid() const { return pid_; }

 private:
  base::UniqueFd socket_;
  std::int64_t pid_;  // as the kernel reports it
  bool ended_ = false;
};

}  // namespace crossover::signals
