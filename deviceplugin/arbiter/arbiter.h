// The arbiter of a node: keeps the turnstile of each GPU, and says who is on it.
//
// One thread (Run) owns everything: it polls the pages and serves the socket in one loop, so that no lock is
// ever taken between a store of a client and its consequence.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "deviceplugin/arbiter/gpu.h"
#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/arbiter/liveness.h"
#include "deviceplugin/arbiter/mailbox.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/poller.h"
#include "deviceplugin/arbiter/profile_source.h"
#include "deviceplugin/arbiter/quarantine.h"
#include "deviceplugin/arbiter/reception.h"
#include "deviceplugin/arbiter/said.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::arbiter {

class Arbiter : private Reception::Desk {
 public:
  // All outlive the arbiter. Without `profiles`, nothing is known of newcomers; without `identities`, they
  // are who they say.
  Arbiter(const Settings& settings, Observer* observer, const ProfileSource* profiles = nullptr,
          const IdentitySource* identities = nullptr);
  ~Arbiter() override;

  // Opens the socket; clients may connect from here on.
  bool Start(std::string* error);
  // Serves until Stop: then opens all gates, waits a little for those who waited, and closes the connections.
  void Run();

  // From any thread.
  void Stop() { mailbox_.PutStop(); }
  // Connections that were refused: too many, or a client that may not join. From any thread.
  struct Refusals {
    std::uint64_t too_many = 0;
    std::uint64_t not_allowed = 0;
  };
  Refusals refusals() const { return {too_many_.load(), not_allowed_.load()}; }
  // Whether its thread takes a pass within `patience`.
  bool Answers(std::chrono::milliseconds patience);
  void Reload(LiveSettings settings) { mailbox_.PutSettings(std::move(settings)); }
  // What clients may do has changed: see IdentitySource.
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

  std::string AccountOf(const Peer& peer) const override;
  void OnTooMany(const std::string& account) override;
  std::string OnHello(Connection& connection, const Hello& hello) override;
  std::string Welcome(Connection& connection, const Hello& hello);
  std::string Refuse(const Connection& connection, const std::string& who, const std::string& reason);
  void OnProfile(Connection& connection, const Profile& profile) override;
  void OnGone(const Connection& connection, std::string_view why) override;

  Entry* EntryFor(const Connection& connection, const Hello& hello, std::string* refusal);
  Entry* FindOrMake(const std::string& uuid, const std::string& key, std::string* refusal);
  void OnDamage(const std::string& key, turn::Time now);
  void Release(const std::string& uuid);
  void CloseAll(const std::string& key, const std::string& why);
  bool Allowed(const std::string& uuid) const;
  bool MakeRoom();
  turn::Time PollDue(turn::Time now);
  void HandleMail();
  void Apply(LiveSettings settings);
  void ReviewAll();
  void OpenGatesAndWait();
  void Log(LogLevel level, std::string line) { observer_->OnLog(level, std::move(line)); }

  Settings settings_;
  Observer* observer_;
  const ProfileSource* profiles_;
  const IdentitySource* identities_;
  Mailbox mailbox_;
  Poller poller_;
  Entries gpus_;  // by GpuInfo::key
  Quarantine quarantine_;
  Said said_refusals_;   // by process
  Said said_too_many_;   // by account
  Reception reception_;  // after gpus_: its clients leave their GPUs when it goes
  bool stop_ = false;
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<std::uint64_t> too_many_{0};
  std::atomic<std::uint64_t> not_allowed_{0};
};

}  // namespace crossover::arbiter
