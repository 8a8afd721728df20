// Runs the arbiter of a node: it keeps the turnstile of each GPU and grants slots on it to clients.
//
//   clients' sockets --> ClientServer --> Arbiter (OnHello, OnProfile) --> Gpu: page, turnstile, guard
//   other threads    --> Mailbox      -->    |
//                                            +--> Observer: events, statistics, log lines (never blocks)
//
// One thread (Run) owns all state. It polls the pages and serves the socket in one loop, so no lock is taken
// between a store of a client and the arbiter's reaction to it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "deviceplugin/arbiter/client_server.h"
#include "deviceplugin/arbiter/extension.h"
#include "deviceplugin/arbiter/gpu.h"
#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/arbiter/liveness.h"
#include "deviceplugin/arbiter/log_deduper.h"
#include "deviceplugin/arbiter/mailbox.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/poller.h"
#include "deviceplugin/arbiter/profile_source.h"
#include "deviceplugin/arbiter/quarantine.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::arbiter {

class Arbiter : private ClientServer::Delegate {
 public:
  // REQUIRES: all pointers outlive the arbiter, and `extension` is not open yet. Without `profiles`, the
  // demand of a new client is unknown. Without `identities`, the arbiter believes what a client says of
  // itself.
  Arbiter(const Settings& settings, Observer* observer, const ProfileSource* profiles = nullptr,
          const IdentitySource* identities = nullptr, Extension* extension = nullptr);
  ~Arbiter() override;

  // Opens the socket. Clients may connect as soon as it returns. Returns false with the reason in `error`, on
  // failure.
  bool Start(std::string* error);
  // Serves until Stop. Then opens all gates, gives waiting clients up to 100 ms to pass, and closes the
  // connections.
  void Run();

  // Makes Run return. Any thread may call it.
  void Stop() { mailbox_.PutStop(); }
  // Refusals counts the connections that were refused because there were too many (`too_many`), the clients
  // that may not join (`not_allowed`), and the connections that were refused for what they sent, or for
  // sending no hello in time (`malformed`). Any thread may call refusals().
  struct Refusals {
    std::uint64_t too_many = 0;
    std::uint64_t not_allowed = 0;
    std::uint64_t malformed = 0;
  };
  Refusals refusals() const { return {too_many_.load(), not_allowed_.load(), malformed_.load()}; }
  // Returns whether the arbiter's thread handles its mailbox within `patience`. Blocks the caller until
  // then. Any thread other than the arbiter's may call it.
  bool Answers(std::chrono::milliseconds patience);
  // Replaces the live settings. Any thread may call it.
  void Reload(LiveSettings settings) { mailbox_.PutSettings(std::move(settings)); }
  // Makes the arbiter ask IdentitySource::PermissionsOf again for every client. Any thread may call it.
  void Review() { mailbox_.PutReview(); }

 private:
  struct Entry {
    Entry(const std::shared_ptr<const GpuInfo>& info, const LiveSettings& live, Observer* observer,
          Liveness::OnDead on_dead);
    void Apply(const LiveSettings& live);
    Gpu gpu;
    Liveness liveness;
    turn::Time next_poll = 0;
  };
  using Entries = std::unordered_map<std::string, std::unique_ptr<Entry>>;

  Account AccountOf(const Peer& peer) const override;
  std::optional<std::uint32_t> MemoryOf(const Account& account) const override;
  void OnTooMany(const std::string& account) override;
  void OnMalformed(const Connection& connection, const std::string& why) override;
  std::string OnHello(Connection& connection, const Hello& hello) override;
  std::string Welcome(Connection& connection, const Hello& hello);
  std::string Refuse(const Connection& connection, const std::string& who, const std::string& reason);
  void SayRefusal(const Connection& connection, const std::string& who, const std::string& reason);
  void OnProfile(Connection& connection, const Profile& profile) override;
  void OnCalls(Connection& connection, const Calls& calls) override;
  void OnReductions(Connection& connection, const Reductions& reductions) override;
  bool OnOther(Connection& connection, const Unknown& message, std::string* why) override;
  void OnGone(const Connection& connection, std::string_view why) override;

  Entry* EntryFor(const Connection& connection, const Hello& hello, std::string* refusal);
  Entry* FindOrMake(const std::string& uuid, const std::string& key, std::string* refusal);
  void TellOfUnlikeRanks(Connection& connection);
  void OnDamage(const std::string& key, turn::Time now);
  void Release(const std::string& uuid);
  void CloseAll(const std::string& key, const std::string& why);
  bool Allowed(const std::string& uuid) const;
  bool MakeRoom();
  turn::Time PollDue(turn::Time now);
  turn::Time ServeExtension(turn::Time now);
  void HandleMail();
  void Apply(LiveSettings settings);
  void ReviewAll();
  void OpenGatesAndWait();
  void Log(LogLevel level, std::string line) { observer_->OnLog(level, std::move(line)); }

  Settings settings_;
  Observer* observer_;
  const ProfileSource* profiles_;
  const IdentitySource* identities_;
  Extension* extension_;  // may be null
  Mailbox mailbox_;
  Poller poller_;
  Entries gpus_;  // by GpuInfo::key
  Quarantine quarantine_;
  LogDeduper said_refusals_;  // key: process ID
  LogDeduper said_too_many_;  // key: hash of the account
  LogDeduper said_unlike_;    // key: ID of the connection
  ClientServer server_;       // after gpus_: its destructor makes clients leave their GPUs
  bool stop_ = false;
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<std::uint64_t> too_many_{0};
  std::atomic<std::uint64_t> not_allowed_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace crossover::arbiter
