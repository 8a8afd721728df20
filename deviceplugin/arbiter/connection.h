// Reads and writes the messages of one connection, and limits how many messages its client may send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/clock.h"
#include "common/base/fd.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/peer.h"

namespace crossover::arbiter {

// A RateLimit allows at most kMost messages in a window of kWindow. A window begins with its first message.
class RateLimit {
 public:
  static constexpr int kMost = 100;
  static constexpr turn::Time kWindow = base::kNsPerSecond;

  bool Allow(turn::Time now) {
    if (now - window_start_ >= kWindow) {
      window_start_ = now;
      used_ = 0;
    }
    return ++used_ <= kMost;
  }

 private:
  turn::Time window_start_ = INT64_MIN / 2;
  int used_ = 0;
};

class Connection {
 public:
  // The connection counts against the limit of `account`. It owns `socket`. `hello_deadline` is in ns,
  // CLOCK_MONOTONIC.
  Connection(std::uint64_t id, base::UniqueFd socket, Peer peer, Account account, turn::Time hello_deadline)
      : id_(id),
        socket_(std::move(socket)),
        peer_(std::move(peer)),
        account_(std::move(account)),
        hello_deadline_(hello_deadline) {}

  struct Nothing {};      // the caller tries again when the socket is readable
  struct EndOfStream {};  // the peer has closed the connection or is gone
  using Received = std::variant<Nothing, EndOfStream, Message>;
  // Reads one message without blocking. Returns Broken if the peer exceeds the rate limit or the message is
  // invalid. `now` is in ns, CLOCK_MONOTONIC.
  Received Receive(turn::Time now);

  // Sends the slot, the memory that the client may have, and the page's descriptor. Never blocks. Returns
  // false when the peer does not take the message.
  bool SendWelcome(std::uint32_t slot, std::uint32_t memory_mib, int page_fd);
  // Sends without blocking. A message that the peer does not take is lost.
  void SendLimit(std::optional<std::uint32_t> memory_mib);
  void SendRefused(std::string_view reason);
  void SendNotice(std::string_view text);
  // `fd` goes along unless it is -1.
  void Send(std::span<const std::byte> message, int fd);

  std::uint64_t id() const { return id_; }
  int fd() const { return socket_.get(); }
  const Peer& peer() const { return peer_; }
  const Account& account() const { return account_; }
  turn::Time hello_deadline() const { return hello_deadline_; }

  // The client's place on its GPU; null until the client has a slot.
  std::shared_ptr<const Member> member;
  bool asked = false;  // the client has asked for its limit
  CallList calls;      // the messages so far of the report that it is sending

 private:
  std::uint64_t id_;
  base::UniqueFd socket_;
  Peer peer_;
  Account account_;
  turn::Time hello_deadline_;
  RateLimit rate_;
};

}  // namespace crossover::arbiter
