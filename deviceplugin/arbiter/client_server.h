// Accepts connections, reads their messages within limits, and closes them.
//
// Only the arbiter's thread uses it. The work of one call is bounded, so a flood of connections or messages
// cannot stop the polling of the GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "deviceplugin/arbiter/connection.h"
#include "deviceplugin/arbiter/listener.h"
#include "deviceplugin/arbiter/poller.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::arbiter {

class ClientServer {
 public:
  // A Delegate decides what to do with the messages of clients.
  class Delegate {
   public:
    virtual ~Delegate() = default;
    // Returns the account that a connection counts against.
    virtual Account AccountOf(const Peer& peer) const = 0;
    // Returns how many MiB of each GPU a process of this account may have, or 0 if it has no limit. Returns
    // nothing if that is not known yet.
    virtual std::optional<std::uint32_t> MemoryOf(const Account& account) const = 0;
    // Reports that a connection was refused because of the limits.
    virtual void OnTooMany(const std::string& account) = 0;
    // Reports that a connection was refused for a message that is malformed, comes at the wrong time or is of
    // another protocol version, or because no hello came in time.
    virtual void OnMalformed(const Connection& connection, const std::string& why) = 0;
    // Gives the client a slot (connection.member) and returns an empty string, or returns why it gets none.
    virtual std::string OnHello(Connection& connection, const Hello& hello) = 0;
    virtual void OnProfile(Connection& connection, const Profile& profile) = 0;
    virtual void OnCalls(Connection& connection, const Calls& calls) = 0;
    virtual void OnReductions(Connection& connection, const Reductions& reductions) = 0;
    // Handles a message of another type. Returns false if the connection has to end, with the reason in
    // `why`, which the peer is told unless it is empty.
    virtual bool OnOther(Connection&, const Unknown&, std::string*) { return true; }
    // Reports that a client that had a slot is gone. Called once per client.
    virtual void OnGone(const Connection& connection, std::string_view why) = 0;
  };

  ClientServer(const Limits& limits, Poller* poller, Delegate* delegate)
      : limits_(limits), poller_(poller), delegate_(delegate) {}
  ~ClientServer();

  // Opens the socket. Returns false with the reason in `error`, on failure.
  bool Open(const SocketSettings& settings, std::string* error);

  // The poller's tags from kFirstTag on belong to ClientServer. The caller may use the tags below.
  static constexpr std::uint64_t kFirstTag = 16;
  // Handles a descriptor that the poller has reported.
  void OnReady(std::uint64_t tag, turn::Time now);

  // Closes connections without a hello in time, and accepts again after a pause.
  void Tick(turn::Time now);
  // Returns when Tick is due, or turn::kNever if it is not.
  turn::Time next_tick() const;

  // SendNotice, Send and Close act on the connection with that ID, if it still exists.
  void SendNotice(std::uint64_t id, std::string_view text);
  void Send(std::uint64_t id, std::span<const std::byte> message, int fd);
  void Close(std::uint64_t id, std::string_view why);
  void CloseAll(std::string_view why);
  std::size_t connections() const { return connections_.size(); }

 private:
  using Connections = std::unordered_map<std::uint64_t, Connection>;

  void Accept(turn::Time now);
  void Admit(base::UniqueFd socket, turn::Time now);
  void Read(Connections::iterator it, turn::Time now);
  // These functions return false if the connection must end, with the reason in `why`.
  bool HandleMessage(Connection& connection, const Message& message, std::string* why);
  bool HandleHello(Connection& connection, const Hello& hello, std::string* why);
  bool HandleAsk(Connection& connection, std::string* why);
  void Close(Connections::iterator it, std::string_view why);

  Limits limits_;
  Poller* poller_;
  Delegate* delegate_;
  Listener listener_;
  Connections connections_;
  std::unordered_map<std::string, std::uint32_t> per_account_;
  // Holds the deadline of each connection without a hello, by ID. Later IDs have later deadlines.
  std::map<std::uint64_t, turn::Time> silent_;
  std::uint64_t next_id_ = 1;
  turn::Time accept_again_ = 0;  // not 0: there was no descriptor left, and it accepts again at this time
};

}  // namespace crossover::arbiter
