// Accepts connections, reads what they say within limits, and closes them.
//
// Used by the arbiter's thread alone. All the work of one call is bounded: a flood of connections or messages
// takes turns with the polling of the GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "deviceplugin/arbiter/connection.h"
#include "deviceplugin/arbiter/listener.h"
#include "deviceplugin/arbiter/poller.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::arbiter {

class Reception {
 public:
  // What to do with what clients say.
  class Desk {
   public:
    virtual ~Desk() = default;
    // On whose account a connection is.
    virtual std::string AccountOf(const Peer& peer) const = 0;
    virtual void OnTooMany(const std::string& account) = 0;
    // Gives the client a slot (connection.member) and returns an empty string, or why it has none.
    virtual std::string OnHello(Connection& connection, const Hello& hello) = 0;
    virtual void OnProfile(Connection& connection, const Profile& profile) = 0;
    // A client that had a slot is gone. Called once.
    virtual void OnGone(const Connection& connection, std::string_view why) = 0;
  };

  Reception(const Limits& limits, Poller* poller, Desk* desk)
      : limits_(limits), poller_(poller), desk_(desk) {}
  ~Reception();

  bool Open(const SocketSettings& settings, std::string* error);

  // Tags of the poller from kFirstTag on are ours; those below are free for the caller.
  static constexpr std::uint64_t kFirstTag = 16;
  void OnReady(std::uint64_t tag, turn::Time now);

  // Closes whoever has not said hello in time, and accepts again after a pause.
  void Tick(turn::Time now);
  // When Tick is wanted; turn::kNever if not.
  turn::Time next_tick() const;

  // For the client with that connection, if it is still there.
  void SendNotice(std::uint64_t id, std::string_view text);
  void Close(std::uint64_t id, std::string_view why);
  void CloseAll(std::string_view why);
  std::size_t connections() const { return connections_.size(); }

 private:
  using Connections = std::unordered_map<std::uint64_t, Connection>;

  void Accept(turn::Time now);
  void Admit(base::UniqueFd socket, turn::Time now);
  void Read(Connections::iterator it, turn::Time now);
  // Both return false when the connection has to end, with the reason in `why`.
  bool HandleMessage(Connection& connection, const Message& message, std::string* why);
  bool HandleHello(Connection& connection, const Hello& hello, std::string* why);
  void Close(Connections::iterator it, std::string_view why);

  Limits limits_;
  Poller* poller_;
  Desk* desk_;
  Listener listener_;
  Connections connections_;
  std::unordered_map<std::string, std::uint32_t> per_account_;
  std::map<std::uint64_t, turn::Time> silent_;  // no hello yet: id and deadline, both growing
  std::uint64_t next_id_ = 1;
  turn::Time accept_again_ = 0;  // not 0: out of descriptors, accepting is suspended until then
};

}  // namespace crossover::arbiter
